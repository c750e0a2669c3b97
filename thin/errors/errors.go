// Package errors is what Pebble calls of github.com/cockroachdb/errors, over the standard library: marks, notes and secondary errors,
// without stack traces, encoding for a network and reports to a service.
package errors

import (
	"errors"
	"fmt"

	"github.com/cockroachdb/redact"
)

// noted is an error with something besides: a note for who reads it, a second error, or a mark.
type noted struct {
	error        // what happened
	note  string // printed by %+v alone
	mark  error  // Is finds it, Error does not print it
}

func (e *noted) Unwrap() error { return e.error }

// Is reports whether the mark is the target: the standard Is asks it.
func (e *noted) Is(target error) bool { return e.mark != nil && errors.Is(e.mark, target) }

// Format prints the note where details are asked for.
func (e *noted) Format(s fmt.State, verb rune) {
	switch {
	case verb == 'q':
		fmt.Fprintf(s, "%q", e.Error())
	case verb == 'v' && s.Flag('+') && e.note != "":
		fmt.Fprintf(s, "%+v (%s)", e.error, e.note)
	case verb == 'v' && s.Flag('+'):
		fmt.Fprintf(s, "%+v", e.error)
	default:
		fmt.Fprint(s, e.Error())
	}
}

// assertion is a bug of the program that found it.
var assertion = errors.New("assertion failed")

// New makes an error of a text.
func New(text string) error { return errors.New(text) }

// Newf makes an error of a format; %w wraps.
func Newf(format string, args ...any) error { return fmt.Errorf(format, args...) }

// Errorf is Newf.
func Errorf(format string, args ...any) error { return fmt.Errorf(format, args...) }

// AssertionFailedf makes an error that IsAssertionFailure knows.
func AssertionFailedf(format string, args ...any) error {
	return &noted{error: fmt.Errorf(format, args...), mark: assertion}
}

// IsAssertionFailure reports whether an error, or one that it wraps, is a bug.
func IsAssertionFailure(err error) bool { return errors.Is(err, assertion) }

// Wrap puts a text before an error; nil remains nil.
func Wrap(err error, text string) error {
	switch {
	case err == nil:
		return nil
	case text == "":
		return err
	}
	return fmt.Errorf("%s: %w", text, err)
}

// Wrapf is Wrap with a format.
func Wrapf(err error, format string, args ...any) error {
	if err == nil {
		return nil
	}
	return Wrap(err, fmt.Sprintf(format, args...))
}

// WithStack returns the error: no stack is kept.
func WithStack(err error) error { return err }

func with(err error, format string, args ...any) error {
	if err == nil {
		return nil
	}
	return &noted{error: err, note: fmt.Sprintf(format, args...)}
}

// WithDetailf adds a note to an error.
func WithDetailf(err error, format string, args ...any) error { return with(err, format, args...) }

// WithHintf adds a note to an error.
func WithHintf(err error, format string, args ...any) error { return with(err, format, args...) }

// WithSafeDetails adds a note to an error.
func WithSafeDetails(err error, format string, args ...any) error { return with(err, format, args...) }

// WithSecondaryError adds what went wrong besides.
func WithSecondaryError(err, second error) error {
	if err == nil || second == nil {
		return err
	}
	return with(err, "and %+v", second)
}

// CombineErrors is the first error with the second added, or the one that is not nil.
func CombineErrors(err, second error) error {
	if err == nil {
		return second
	}
	return WithSecondaryError(err, second)
}

// Mark makes Is find reference in an error, whose text remains.
func Mark(err, reference error) error {
	if err == nil {
		return nil
	}
	return &noted{error: err, mark: reference}
}

// Is is that of the standard library.
func Is(err, reference error) bool { return errors.Is(err, reference) }

// As is that of the standard library.
func As(err error, target any) bool { return errors.As(err, target) }

// Join is that of the standard library.
func Join(errs ...error) error { return errors.Join(errs...) }

// UnwrapAll is the innermost error of a chain.
func UnwrapAll(err error) error {
	for {
		inner := errors.Unwrap(err)
		if inner == nil {
			return err
		}
		err = inner
	}
}

// Safe is a value that is printed as it is.
func Safe(value any) redact.SafeValue { return redact.Safe(value) }
