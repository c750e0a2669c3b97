// Package access says who may do what in a fleet: roles, tokens, the binding of nodes' names to their keys, and how much a node
// may say in a second. It is pure: time and chance are arguments, and it stores nothing (package gate does).
package access

import "fmt"

// Role is what a person, a program or a node may be to a coordinator.
type Role uint8

// Roles.
const (
	Nobody   Role = iota
	Join          // may get a node's credentials, and nothing else
	Observer      // may read
	Operator      // may read, order, and let nodes join
)

var roleNames = map[Role]string{Nobody: "nobody", Join: "join", Observer: "observer", Operator: "operator"}

// String returns the role's name, as commands take it.
func (r Role) String() string { return roleNames[r] }

// RoleOf returns the role of a name, of those that a token can have.
func RoleOf(name string) (Role, error) {
	for _, r := range []Role{Join, Observer, Operator} {
		if r.String() == name {
			return r, nil
		}
	}
	return Nobody, fmt.Errorf("role %q: allowed are join, observer and operator", name)
}

// Need is what an endpoint asks of who calls it.
type Need uint8

// Needs. The zero Need is the strictest, so that an endpoint that nobody has thought of is an operator's.
const (
	ToOrder Need = iota // changes something, or shows who else may do what
	ToRead              // shows something
	ToJoin              // gives a node's credentials
	Nothing             // says nothing that is not public
)

// May reports whether a role suffices for a need: the one place where that is decided.
func (r Role) May(n Need) bool {
	switch n {
	case Nothing:
		return true
	case ToRead:
		return r == Observer || r == Operator
	case ToJoin:
		return r == Join || r == Operator
	}
	return r == Operator
}

// Who is somebody who asks something of a coordinator.
type Who struct {
	Role  Role
	Name  string // for people: "token 1f3a (ci)", "uid 1000 on this machine"
	Token string // id of the token that it came with; empty: none that is kept here
}
