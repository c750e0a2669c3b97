package bus

import (
	"os"
	"testing"

	"argosy/internal/testkit/scratch"
)

func TestMain(m *testing.M) { os.Exit(scratch.Run(m)) }
