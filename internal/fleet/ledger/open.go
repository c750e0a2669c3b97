package ledger

import (
	"context"
	"database/sql"
	"database/sql/driver"
	"embed"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"net"
	"net/url"
	"slices"
	"strconv"
	"strings"
	"syscall"
	"time"

	"github.com/jackc/pgx/v5/pgconn"
	_ "github.com/jackc/pgx/v5/stdlib" // the driver "pgx"
	"github.com/pressly/goose/v3"
	"github.com/pressly/goose/v3/database"
	sqlitedriver "modernc.org/sqlite"
)

//go:embed migrations/*.sql
var migrations embed.FS

// schema is what all migrations together make of an empty file; TestNewIsMigrated holds it to that, and writes it.
//
//go:embed schema.sql
var schema string

// SQLite's own lower knows ASCII alone, and titles are in any language.
func init() {
	sqlitedriver.MustRegisterDeterministicScalarFunction("lower", 1, func(_ *sqlitedriver.FunctionContext, args []driver.Value) (driver.Value, error) {
		if text, ok := args[0].(string); ok {
			return strings.ToLower(text), nil
		}
		return args[0], nil
	})
}

// dialect is what differs between the two databases.
type dialect bool

const (
	sqlite   dialect = false
	postgres dialect = true
)

// bind writes a query's placeholders as the database wants them.
func (d dialect) bind(query string) string {
	if d == sqlite {
		return query
	}
	var b strings.Builder
	n := 0
	for _, r := range query {
		if r == '?' {
			n++
			b.WriteString("$" + strconv.Itoa(n))
			continue
		}
		b.WriteRune(r)
	}
	return b.String()
}

// lock makes a query keep others from what it reads until the transaction ends. SQLite's transactions do so anyway.
func (d dialect) lock(query string) string {
	if d == sqlite {
		return query
	}
	return query + " FOR UPDATE"
}

// bytewise orders a column of text by its bytes, whatever the database's language.
func (d dialect) bytewise(column string) string {
	if d == sqlite {
		return column
	}
	return column + ` COLLATE "C"`
}

// translated gives the migrations, which are written for SQLite, in PostgreSQL's words.
type translated struct{ fs.FS }

var inPostgres = strings.NewReplacer(
	"INTEGER", "BIGINT", "BLOB", "BYTEA", "REAL", "DOUBLE PRECISION", ") WITHOUT ROWID;", ");",
)

// Open implements fs.FS.
func (t translated) Open(name string) (fs.File, error) {
	f, err := t.FS.Open(name)
	if err != nil || !strings.HasSuffix(name, ".sql") {
		return f, err
	}
	b, err := fs.ReadFile(t.FS, name)
	if err != nil {
		return nil, errors.Join(err, f.Close())
	}
	return &text{File: f, Reader: strings.NewReader(inPostgres.Replace(string(b)))}, nil
}

// text is a file whose content is in memory.
type text struct {
	fs.File
	*strings.Reader
}

// Read implements fs.File.
func (t *text) Read(p []byte) (int, error) { return t.Reader.Read(p) }

// IsPostgres tells whether a place for a ledger is a PostgreSQL database.
func IsPostgres(place string) bool {
	return strings.HasPrefix(place, "postgres://") || strings.HasPrefix(place, "postgresql://")
}

// Open opens or creates a ledger and brings its schema up to date. place is a file, for SQLite, or a postgres:// URL. A database may
// be starting: it has twenty seconds.
func Open(ctx context.Context, place string) (*Ledger, error) { return open(ctx, place, patience) }

// OpenNow is Open for those who try again themselves: a database that is not there is ErrAway at once.
func OpenNow(ctx context.Context, place string) (*Ledger, error) { return open(ctx, place, 0) }

func open(ctx context.Context, place string, wait time.Duration) (*Ledger, error) {
	name := place
	l := &Ledger{kind: dialect(IsPostgres(place)), idle: idleMost}
	var err error
	if l.kind == postgres {
		name = WithoutPassword(place)
		if _, err := pgconn.ParseConfig(place); err != nil {
			return nil, fmt.Errorf("open ledger %s: %w: %w", name, ErrPlace, err)
		}
		l.db, err = sql.Open("pgx", place)
	} else {
		l.db, err = sql.Open("sqlite", "file:"+(&url.URL{Path: place}).EscapedPath()+"?_txlock=immediate&_pragma=journal_mode(WAL)"+
			"&_pragma=synchronous(FULL)&_pragma=busy_timeout(10000)&_pragma=cache_size(-2000)&_pragma=wal_autocheckpoint(8000)")
	}
	if err != nil {
		return nil, fmt.Errorf("open ledger %s: %w", name, err)
	}
	l.db.SetMaxOpenConns(4)
	if err := l.reach(ctx, wait); err != nil {
		return nil, errors.Join(fmt.Errorf("open ledger %s: %w", name, l.wrap(err)), l.db.Close())
	}
	if err := l.migrate(ctx); err != nil {
		if err = l.wrap(err); !errors.Is(err, ErrNewer) && l.broken(ctx) { // what the schema's tables say is not to be believed then
			err = fmt.Errorf("%w: %w", ErrDamaged, err)
		}
		return nil, errors.Join(fmt.Errorf("open ledger %s: %w", name, err), l.db.Close())
	}
	if err := l.Refresh(ctx); err != nil {
		return nil, errors.Join(fmt.Errorf("open ledger %s: %w", name, err), l.db.Close())
	}
	return l, nil
}

// patience is how long a database may take to start.
const patience = 20 * time.Second

// reach waits so long until the database answers: it may be starting, beside us. A refusal is not waited for.
func (l *Ledger) reach(ctx context.Context, wait time.Duration) error {
	for end := time.Now().Add(wait); ; {
		try, cancel := context.WithTimeout(ctx, patience)
		err := l.db.PingContext(try)
		cancel()
		var refused *pgconn.PgError
		if err == nil || l.kind == sqlite || !time.Now().Before(end) || errors.As(err, &refused) && refused.Code != "57P03" {
			return err
		}
		select {
		case <-ctx.Done():
			return ctx.Err()
		case <-time.After(200 * time.Millisecond):
		}
	}
}

// ErrPlace says that what is given for a place of a ledger is not one.
var ErrPlace = errors.New("not the address of a database")

// ErrNewer says that a newer argosy has changed the ledger's schema.
var ErrNewer = errors.New("a newer argosy has written it")

// ErrAway says that the database does not answer, or takes nothing for now: what was to be written may be tried again.
var ErrAway = errors.New("the database does not answer, or takes nothing for now")

// wrap says whose an error is, and whether trying again may help.
func (l *Ledger) wrap(err error) error {
	switch {
	case err == nil:
		return nil
	case l.kind == postgres && away(err):
		return fmt.Errorf("ledger: %w: %w", ErrAway, err)
	case isDamaged(err):
		return fmt.Errorf("ledger: %w: %w", ErrDamaged, err)
	case isFull(err):
		return fmt.Errorf("ledger: %w: %w", syscall.ENOSPC, err)
	case isReadOnly(err):
		return fmt.Errorf("ledger: %w: %w", ErrReadOnly, err)
	}
	return fmt.Errorf("ledger: %w", err)
}

// awayClasses are what PostgreSQL says (the first two signs of SQLSTATE) for reasons that lie in it, and not in what it is to do: a
// connection, a transaction that is read-only (as on a server that takes over), or was given up, deadlocks, no room, no memory or
// connection left, a lock, an operator, the disk.
var awayClasses = []string{"08", "25", "40", "53", "55", "57", "58"}

// away reports whether an error says that PostgreSQL is not there, or cannot do now what it was asked to.
func away(err error) bool {
	var said *pgconn.PgError
	if errors.As(err, &said) {
		return len(said.Code) == 5 && slices.Contains(awayClasses, said.Code[:2])
	}
	var unreached *pgconn.ConnectError
	var network net.Error
	return errors.As(err, &unreached) || errors.As(err, &network) || errors.Is(err, io.EOF) || errors.Is(err, io.ErrUnexpectedEOF) ||
		errors.Is(err, driver.ErrBadConn) || pgconn.SafeToRetry(err)
}

// WithoutPassword is a database's URL without what a password may stand in.
func WithoutPassword(place string) string {
	u, err := url.Parse(place)
	if err != nil {
		return "postgres://…"
	}
	if u.User != nil {
		u.User = url.User(u.User.Username())
	}
	u.RawQuery, u.Fragment = "", ""
	return u.String()
}

const migrationLock = 0x6172676f7379 // "argosy"

func (l *Ledger) migrate(ctx context.Context) error {
	dir, err := fs.Sub(migrations, "migrations")
	if err != nil {
		return err
	}
	d := goose.DialectSQLite3
	if l.kind == postgres {
		d, dir = goose.DialectPostgres, translated{dir}
	}
	p, err := goose.NewProvider(d, l.db, dir)
	if err != nil {
		return err
	}
	if l.kind == sqlite {
		var tables int
		if err := l.db.QueryRowContext(ctx, countTables).Scan(&tables); err != nil {
			return err
		}
		if tables == 0 {
			return l.create(ctx, p)
		}
		return up(ctx, p)
	}
	lock, err := l.db.Conn(ctx) // two coordinators may start at once
	if err != nil {
		return err
	}
	defer lock.Close()
	if _, err := lock.ExecContext(ctx, `SELECT pg_advisory_lock($1)`, migrationLock); err != nil {
		return err
	}
	err = up(ctx, p)
	_, uerr := lock.ExecContext(context.WithoutCancel(ctx), `SELECT pg_advisory_unlock($1)`, migrationLock)
	return errors.Join(err, uerr)
}

const countTables = `SELECT count(*) FROM sqlite_master`

// create writes the schema of a file that is new at once, and names the migrations that it stands for. One after the other they take ten
// times as long, which was a sixth of the processor time of a crawl of a few pages.
func (l *Ledger) create(ctx context.Context, p *goose.Provider) error {
	versions, err := database.NewStore(goose.DialectSQLite3, goose.DefaultTablename)
	if err != nil {
		return err
	}
	tx, err := l.db.BeginTx(ctx, nil)
	if err != nil {
		return err
	}
	defer func() { _ = tx.Rollback() }() // after Commit it does nothing
	var tables int
	if err := tx.QueryRowContext(ctx, countTables).Scan(&tables); err != nil {
		return err
	}
	if tables > 0 { // another process was first
		return errors.Join(tx.Rollback(), up(ctx, p))
	}
	if err := versions.CreateVersionTable(ctx, tx); err != nil {
		return err
	}
	if err := versions.Insert(ctx, tx, database.InsertRequest{}); err != nil {
		return err
	}
	for _, s := range p.ListSources() {
		if err := versions.Insert(ctx, tx, database.InsertRequest{Version: s.Version}); err != nil {
			return err
		}
	}
	if _, err := tx.ExecContext(ctx, schema); err != nil {
		return err
	}
	return tx.Commit()
}

// up brings a schema up to date, unless it is newer than what this version knows.
func up(ctx context.Context, p *goose.Provider) error {
	have, known, err := p.GetVersions(ctx)
	if err != nil {
		return err
	}
	if have > known {
		return fmt.Errorf("%w: its schema is version %d, this argosy knows up to %d", ErrNewer, have, known)
	}
	_, err = p.Up(ctx)
	return err
}
