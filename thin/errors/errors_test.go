package errors

import (
	stderrors "errors"
	"fmt"
	"io"
	"os"
	"strings"
	"syscall"
	"testing"

	"github.com/cockroachdb/errors/oserror"
)

// A mark, a note and a second error are found and printed where they should be, through any wrapping, and nil remains nil.
func TestErrors(t *testing.T) {
	mark, other := New("corrupt"), New("other")
	err := Wrapf(WithDetailf(Mark(Newf("block %d", Safe(7)), mark), "at %s", "x"), "table %d", 3)
	if !Is(err, mark) || !stderrors.Is(err, mark) || Is(err, other) || err.Error() != "table 3: block 7" {
		t.Error(err, Is(err, mark), Is(err, other))
	}
	if got := fmt.Sprintf("%+v|%v|%s|%q", WithDetailf(io.EOF, "at %s", "x"), Mark(io.EOF, mark), Mark(io.EOF, mark), Mark(io.EOF, mark)); got != `EOF (at x)|EOF|EOF|"EOF"` {
		t.Error(got)
	}
	if got := fmt.Sprintf("%+v", CombineErrors(io.EOF, other)); got != "EOF (and other)" || CombineErrors(nil, other) != other || CombineErrors(io.EOF, nil) != io.EOF {
		t.Error(got)
	}
	if !IsAssertionFailure(Wrap(AssertionFailedf("%w", io.EOF), "x")) || IsAssertionFailure(io.EOF) || !Is(AssertionFailedf("%w", io.EOF), io.EOF) {
		t.Error("assertions")
	}
	if Wrap(nil, "x") != nil || Wrapf(nil, "x") != nil || Mark(nil, mark) != nil || WithHintf(nil, "x") != nil || WithSafeDetails(nil, "x") != nil || WithSecondaryError(nil, mark) != nil {
		t.Error("an error of nothing")
	}
	if UnwrapAll(err) == err || UnwrapAll(Wrap(io.EOF, "x")) != io.EOF || strings.Contains(fmt.Sprint(err), "at x") {
		t.Error(UnwrapAll(err))
	}
}

// The errors of the system and of files are known through wrapping.
func TestOSErrors(t *testing.T) {
	_, err := os.Open("/nowhere/at/all")
	if !oserror.IsNotExist(Wrap(err, "x")) || oserror.IsExist(err) || oserror.IsPermission(err) {
		t.Error(err)
	}
	if !oserror.IsExist(Wrap(&os.PathError{Op: "open", Path: "x", Err: syscall.EEXIST}, "x")) || !oserror.IsPermission(Wrap(syscall.EACCES, "x")) || !oserror.IsNotExist(Mark(io.EOF, os.ErrNotExist)) {
		t.Error("errors of the system")
	}
}
