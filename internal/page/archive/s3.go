package archive

import (
	"context"
	"fmt"
	"io"
	"net/url"
	"os"
	"sort"
	"strings"

	"github.com/minio/minio-go/v7"
	"github.com/minio/minio-go/v7/pkg/credentials"
)

// bucket is a store in S3-compatible storage.
type bucket struct {
	client       *minio.Client
	name, prefix string
	url          string
}

// openS3 opens s3://BUCKET[/PREFIX][?endpoint=URL&region=NAME]. Whether it can be reached is known at first use.
func openS3(where string) (Store, error) {
	u, err := url.Parse(where)
	if err != nil || u.Host == "" {
		return nil, fmt.Errorf("store %s: want s3://BUCKET[/PREFIX][?endpoint=URL&region=NAME]", where)
	}
	q := u.Query()
	for k := range q {
		if k != "endpoint" && k != "region" {
			return nil, fmt.Errorf("store %s: %s: allowed are endpoint and region", where, k)
		}
	}
	endpoint, secure := q.Get("endpoint"), true
	if endpoint == "" {
		endpoint = os.Getenv("AWS_ENDPOINT_URL")
	}
	if endpoint == "" {
		endpoint = "https://s3.amazonaws.com"
	}
	e, err := url.Parse(endpoint)
	if err != nil || e.Host == "" || e.Scheme != "http" && e.Scheme != "https" {
		return nil, fmt.Errorf("store %s: endpoint %q: want http://host:port or https://host", where, endpoint)
	}
	secure = e.Scheme == "https"
	region := q.Get("region")
	if region == "" {
		region = os.Getenv("AWS_REGION")
	}
	c, err := minio.New(e.Host, &minio.Options{
		Creds: credentials.NewChainCredentials([]credentials.Provider{&credentials.EnvAWS{}, &credentials.FileAWSCredentials{}}), Secure: secure, Region: region,
	})
	if err != nil {
		return nil, fmt.Errorf("store %s: %w", where, err)
	}
	prefix := strings.Trim(u.Path, "/")
	if prefix != "" {
		prefix += "/"
	}
	return &bucket{client: c, name: u.Host, prefix: prefix, url: where}, nil
}

// ForeignEndpoint returns the endpoint that the URL of a store names and the environment does not: who opens such a store sends
// credentials there. It is empty for directories, for Amazon's own, and for AWS_ENDPOINT_URL.
func ForeignEndpoint(where string) string {
	u, err := url.Parse(where)
	if err != nil || u.Scheme != "s3" {
		return ""
	}
	endpoint := u.Query().Get("endpoint")
	if strings.TrimSuffix(endpoint, "/") == strings.TrimSuffix(os.Getenv("AWS_ENDPOINT_URL"), "/") {
		return ""
	}
	return endpoint
}

// URL implements Store.
func (b *bucket) URL() string { return b.url }

// Put implements Store.
func (b *bucket) Put(ctx context.Context, name, path string) error {
	_, err := b.client.FPutObject(ctx, b.name, b.prefix+name, path, minio.PutObjectOptions{ContentType: "application/warc"})
	if err != nil {
		return fmt.Errorf("store %s in %s: %w", name, b.url, err)
	}
	return nil
}

// Open implements Store.
func (b *bucket) Open(ctx context.Context, name string, offset int64) (io.ReadCloser, error) {
	var o minio.GetObjectOptions
	if offset > 0 {
		if err := o.SetRange(offset, 0); err != nil {
			return nil, err
		}
	}
	obj, err := b.client.GetObject(ctx, b.name, b.prefix+name, o)
	if err != nil {
		return nil, fmt.Errorf("read %s in %s: %w", name, b.url, err)
	}
	return obj, nil
}

// List implements Store.
func (b *bucket) List(ctx context.Context) ([]string, error) {
	ctx, cancel := context.WithCancel(ctx)
	defer cancel()
	var out []string
	for o := range b.client.ListObjects(ctx, b.name, minio.ListObjectsOptions{Prefix: b.prefix}) {
		if o.Err != nil {
			return nil, fmt.Errorf("list %s: %w", b.url, o.Err)
		}
		if n := strings.TrimPrefix(o.Key, b.prefix); isArchive(n) && !strings.Contains(n, "/") {
			out = append(out, n)
		}
	}
	sort.Strings(out)
	return out, nil
}

// Remove implements Store.
func (b *bucket) Remove(ctx context.Context, name string) error {
	return b.client.RemoveObject(ctx, b.name, b.prefix+name, minio.RemoveObjectOptions{})
}
