package crawl

import (
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"hash"
)

// SeedList stands in a job's identity for seeds that are too many to stand there: they follow the job in chunks.
type SeedList struct {
	Count  int64  `cbor:"1,keyasint" json:"count"`
	Digest string `cbor:"2,keyasint" json:"digest"` // of all of them in order, see SeedDigest
}

// SeedChunk is a piece of a job's list of seeds.
type SeedChunk struct {
	Job      uint32   `cbor:"1,keyasint"`
	From     int64    `cbor:"2,keyasint"` // how many are before it
	URLs     []string `cbor:"3,keyasint"` // canonical
	NoScheme []int    `cbor:"4,keyasint,omitempty"`
}

// Bounds of a chunk: it travels in one message.
const (
	MaxChunk      = 4096
	MaxChunkBytes = 512 << 10
)

// MaxInline bounds the seeds that stand in a job's identity, in bytes. Longer lists follow it.
const MaxInline = 900 << 10

// inlineCost is what a seed costs in an encoded job besides its own bytes.
const inlineCost = 4

// SeedSize is what a seed takes of MaxInline or MaxChunkBytes.
func SeedSize(url string) int { return len(url) + inlineCost }

// Add puts a seed at the chunk's end and reports whether there was room.
func (c *SeedChunk) Add(url string, noScheme bool, size *int) bool {
	if len(c.URLs) == MaxChunk || len(c.URLs) > 0 && *size+SeedSize(url) > MaxChunkBytes {
		return false
	}
	*size += SeedSize(url)
	if noScheme {
		c.NoScheme = append(c.NoScheme, len(c.URLs))
	}
	c.URLs = append(c.URLs, url)
	return true
}

// SeedDigest computes the digest of a list of seeds: SHA-256 over a line for each, which is "-" before those without a scheme.
type SeedDigest struct {
	sum   hash.Hash
	count int64
	line  []byte
}

// Add takes in the next seed.
func (d *SeedDigest) Add(url string, noScheme bool) {
	if d.sum == nil {
		d.sum = sha256.New()
	}
	d.line = d.line[:0]
	if noScheme {
		d.line = append(d.line, '-')
	}
	d.sum.Write(append(append(d.line, url...), '\n'))
	d.count++
}

// List returns what stands for the seeds that were added.
func (d *SeedDigest) List() SeedList {
	if d.sum == nil {
		d.sum = sha256.New()
	}
	return SeedList{d.count, hex.EncodeToString(d.sum.Sum(nil))}
}

// SeedCount returns how many seeds a job has, those included that are still to come.
func (id *Identity) SeedCount() int64 {
	if id.List != nil {
		return id.List.Count
	}
	return int64(len(id.Seeds))
}

// Submission says in the log of orders what is submitted.
func (id *Identity) Submission() string {
	if id.Collect != nil {
		return fmt.Sprintf("submit a virtual task of %d searches", len(id.Collect.Searches))
	}
	what := fmt.Sprintf("submit a job of %d seeds", id.SeedCount())
	if id.SeedCount() == 1 {
		what = "submit a job of 1 seed"
	}
	if len(id.Seeds) > 0 {
		what += ", the first " + id.Seeds[0]
	}
	return what
}
