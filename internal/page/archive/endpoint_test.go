package archive

import "testing"

// Credentials go where the environment says, or to Amazon; any other endpoint is one that somebody else has named.
func TestForeignEndpoint(t *testing.T) {
	t.Setenv("AWS_ENDPOINT_URL", "http://minio:9000")
	for where, want := range map[string]string{
		"/a/dir": "", "file:///a": "", "s3://bucket/warc": "", "s3://bucket?region=eu": "", "s3://bucket?endpoint=http://minio:9000": "",
		"s3://bucket?endpoint=http%3A%2F%2Fminio%3A9000%2F": "", "s3://loot?endpoint=http://attacker.example": "http://attacker.example",
		"s3://loot?endpoint=http://minio:9000@attacker.example": "http://minio:9000@attacker.example",
	} {
		if got := ForeignEndpoint(where); got != want {
			t.Errorf("%s: %q, want %q", where, got, want)
		}
	}
}
