package crawl

// notModified is the status of an answer that has nothing new.
const notModified = 304

// Redirects reports whether answers of a status may send elsewhere: 304 does not, whatever its Location names (RFC 9110, section 15.4.5).
func Redirects(status int) bool { return status/100 == 3 && status != notModified }
