// Package join makes one error of several.
package join

import "errors"

// Join is that of the standard library.
func Join(errs ...error) error { return errors.Join(errs...) }
