package crawl

import (
	"slices"
	"testing"
)

// An outcome may have other URLs of its site asked again, and neither itself nor those of other sites.
func TestOthers(t *testing.T) {
	own, near, far := Key{1, 2, 3, 4, 5}, Key{1, 2, 3, 4, 6}, Key{1, 2, 3, 5, 6}
	if got := Others([]Key{own, near, far}, own); !slices.Equal(got, []Key{near}) {
		t.Errorf("others are %v", got)
	}
}
