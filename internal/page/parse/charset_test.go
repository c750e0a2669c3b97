package parse

import "testing"

func TestIsASCII(t *testing.T) {
	for n := range 100 {
		b := make([]byte, n)
		if !isASCII(b) {
			t.Errorf("%d zeros are not ASCII", n)
		}
		for i := range b {
			b[i] = 0x80
			if isASCII(b) {
				t.Errorf("byte %d of %d is not seen", i, n)
			}
			b[i] = 0x7f
		}
	}
}
