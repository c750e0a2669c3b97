//go:build !linux

package scratch

func free(string) int64 { return 0 }

func alive(int) bool { return true }
