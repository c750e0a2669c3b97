package parse

import (
	"slices"
	"strings"
	"testing"
)

// What the buttons of forms ask for, by the rules of the HTML Standard for the data of a form (4.10.22.4) and its encoding (URL Standard, 5.2).
func TestFormButtons(t *testing.T) {
	for _, c := range []struct{ what, page, want string }{
		{"a button with hidden fields", `<form action="/list"><input type=hidden name=page value=2><input type=submit value=Next></form>`, "/list /list?page=2"},
		{"buttons with names", `<form action=/l><button name=p value=1>1</button><button name=p value=2>2</button></form>`, "/l /l?p=1 /l?p=2"},
		{"in the order of the page", `<form action=l><input type=hidden name=a value=1><button name=b value=2></button><INPUT TYPE=HIDDEN NAME=c></form>`, "l l?a=1&b=2&c="},
		{"the action's query goes", `<form action="/l?x=1#y"><input type=hidden name=page value=2><button></button></form>`, "/l?x=1#y /l?page=2"},
		{"no action: the page itself", `<form><input type=hidden name=page value=2><button type=submit></button></form>`, "?page=2"},
		{"with a base no reference says that", `<base href="/b/"><form><input type=hidden name=page value=2><button></button></form>`, ""},
		{"an action of the button's own", `<form action=/a><input type=hidden name=n value=v><button formaction=/b></button><input type=submit></form>`, "/a /b /b?n=v /a?n=v"},
		{"a picture sends where it was pressed", `<form action=/a><input type=image name=go src=x.png></form>`, "/a /a?go.x=0&go.y=0"},
		{"encoded as forms are", `<form action=/a><input type=hidden name="a b" value="1&amp;2=3+ü/*-._~&#10;"><button></button></form>`, "/a /a?a+b=1%262%3D3%2B%C3%BC%2F*-._%7E%0D%0A"},
		{"disabled and without names", `<form action=/a><input type=hidden name=n disabled><input type=hidden value=v><button name=b disabled></button><button></button></form>`, "/a"},
		{"reset and plain buttons do nothing", `<form action=/a><input type=hidden name=n><input type=reset><button type=button></button></form>`, "/a"},
		{"words are asked for", `<form action=/s><input type=hidden name=n value=v><input name=q><button></button></form>`, "/s"},
		{"a choice", `<form action=/s><input type=hidden name=n value=v><select name=s><option>a</select><button></button></form>`, "/s"},
		{"a box", `<form action=/s><input type=hidden name=n value=v><input type=checkbox name=c><button></button></form>`, "/s"},
		{"a text", `<form action=/s><button name=n value=v></button><textarea name=t></textarea></form>`, "/s"},
		{"by POST", `<form method=post action=/s><input type=hidden name=n value=v><button></button><button formmethod=get></button></form>`, "/s?n=v"},
		{"a button by POST", `<form action=/s><input type=hidden name=n value=v><button formmethod=post></button></form>`, "/s"},
		{"of a form elsewhere", `<form action=/a><input type=hidden name=n form=other><button name=b value=1></button></form>`, "/a /a?b=1"},
		{"what stands behind a form is not its", `<form action=/a><button name=b value=1></button></form><input name=q>`, "/a /a?b=1"},
		{"a form that does not end", `<form action=/a><button name=b value=1></button>`, "/a /a?b=1"},
		{"nor the one before it", `<form action=/a><button name=b value=1></button><form action=/c><button name=d value=2></button></form>`, "/a /a?b=1 /c /c?d=2"},
		{"with foreign content", `<svg><g></svg><form action=/a><button name=b value=1><svg><path/></svg></button></form>`, "/a /a?b=1"},
		{"too many", `<form action=/a>` + strings.Repeat(`<button name=b value=1></button>`, maxButtons+1) + `</form>`, "/a"},
	} {
		var p Page
		Scan([]byte(c.page), Options{}, &p)
		if refs, want := formRefs(&p), strings.Fields(c.want); !slices.Equal(refs, want) {
			t.Errorf("%s: %q, want %q", c.what, refs, want)
		}
	}
	var p Page
	ScanXML([]byte(`<html xmlns="http://www.w3.org/1999/xhtml"><body><form action="/a"><input type="hidden" name="n" value="1&amp;2"/>`+
		`<input type="submit" name="b" value="v"/></form><input name="q"/></body></html>`), Options{}, &p)
	if refs, want := formRefs(&p), []string{"/a", "/a?n=1%262&b=v"}; !slices.Equal(refs, want) {
		t.Errorf("XHTML: %q, want %q", refs, want)
	}
}

// formRefs are the references of forms.
func formRefs(p *Page) (refs []string) {
	for _, l := range p.Links {
		if l.Kind == Form {
			refs = append(refs, string(l.Ref))
		}
	}
	return refs
}
