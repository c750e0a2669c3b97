package main

import (
	"path/filepath"
	"strings"
	"testing"

	"argosy/internal/fleet/assemble"
)

// What the bus is known by counts whether its place is given or the coordinator names it.
func TestNATSCertificates(t *testing.T) {
	for _, bus := range []string{"", "tls://n1:4222"} {
		f := agentFlags{natsCA: filepath.Join(t.TempDir(), "ca.pem")} // which is not there
		f.bus.URL, f.fleet.server = bus, "http://127.0.0.1:8480"
		if err := f.join(&assemble.AgentConfig{}); err == nil || !strings.Contains(err.Error(), "--nats-ca") {
			t.Errorf("bus %q: %v", bus, err)
		}
	}
}
