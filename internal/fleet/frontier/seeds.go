package frontier

import (
	"encoding/binary"
	"errors"
	"fmt"

	"github.com/cockroachdb/pebble/v2"

	"argosy/internal/crawl"
)

// inline are the seeds that stand in a job's identity: they are kept apart from what of a job changes.
type inline struct {
	Seeds    []string       `cbor:"1,keyasint"`
	NoScheme []bool         `cbor:"2,keyasint"`
	Collect  *crawl.Collect `cbor:"100,keyasint,omitempty"`
}

func inlineKey(job uint32) []byte { return binary.BigEndian.AppendUint32([]byte{'i'}, job) }

// placeKey is that of a place of the job's scope that a seed of its list has brought.
func placeKey(job uint32, place string) []byte {
	return append(binary.BigEndian.AppendUint32([]byte{'p'}, job), place...)
}

// Sowing reports whether seeds of the job are still to come: until then nothing of it is given out, so that every link is judged by
// the scope that all seeds make.
func (j *Job) Sowing() bool { return j.Identity.List != nil && j.Sown < j.Identity.List.Count }

// lean is the job without what is kept apart.
func (j *Job) lean() *Job {
	out := *j
	if j.apart {
		out.Identity.Seeds, out.Identity.NoScheme, out.Identity.Collect = nil, nil, nil
	}
	return &out
}

// loadSeeds takes in what is kept apart of a job, and compiles its rules.
func (f *Frontier) loadSeeds(j *Job) error {
	var in inline
	switch err := f.get(inlineKey(j.ID), &in); {
	case err == nil:
		j.Identity.Seeds, j.Identity.NoScheme, j.Identity.Collect, j.apart = in.Seeds, in.NoScheme, in.Collect, true
	case !errors.Is(err, pebble.ErrNotFound):
		return err
	case len(j.Identity.Seeds) == 0 && j.Identity.List == nil:
		return fmt.Errorf("the seeds of job %d are missing", j.ID)
	}
	if err := j.compile(); err != nil || j.Identity.List == nil {
		return err
	}
	return f.each(placeKey(j.ID, ""), func(key, _ []byte) error {
		j.rules.JoinPlace(string(key[5:]))
		return nil
	})
}

// submit takes in a job and the seeds that stand in its identity.
func (x *tx) submit(c *crawl.Job) error {
	if c == nil || x.f.jobs[c.ID] != nil {
		return nil
	}
	j := &Job{Job: *c, State: crawl.JobRunning, StartMS: x.dated, apart: true}
	if err := j.compile(); err != nil {
		return err
	}
	x.f.jobs[c.ID] = j
	x.jobs[c.ID] = j
	if err := x.set(inlineKey(c.ID), inline{c.Identity.Seeds, c.Identity.NoScheme, c.Identity.Collect}); err != nil {
		return err
	}
	if c.Identity.Collect != nil {
		return x.seekers(j)
	}
	for i, s := range c.Identity.Seeds {
		if err := x.seed(j, int64(i), s, i < len(c.Identity.NoScheme) && c.Identity.NoScheme[i]); err != nil {
			return err
		}
	}
	return nil
}

// sow takes in a chunk of a job's list of seeds. One that was taken in, or whose predecessor was not, changes nothing.
func (x *tx) sow(c *crawl.SeedChunk) error {
	if c == nil {
		return nil
	}
	j := x.f.jobs[c.Job]
	if j == nil || j.State == crawl.JobCancelled || !j.Sowing() || c.From != j.Sown || c.From+int64(len(c.URLs)) > j.Identity.List.Count {
		return nil
	}
	x.whole = true // the count of those that are in moves with the whole of them
	x.jobs[j.ID] = j
	bare := c.NoScheme
	for i, s := range c.URLs {
		none := len(bare) > 0 && bare[0] == i
		if none {
			bare = bare[1:]
		}
		u, err := crawl.Parse(s)
		if err != nil {
			return err
		}
		if place, isNew := j.rules.Place(u); isNew {
			if err := x.b.Set(placeKey(j.ID, place), nil, nil); err != nil {
				return err
			}
			j.rules.JoinPlace(place)
		}
		if err := x.seed(j, j.Sown+int64(i), s, none); err != nil {
			return err
		}
	}
	j.Sown += int64(len(c.URLs))
	return nil
}

// seed takes in seed number n of a job. Crawlers get them as they are divided.
func (x *tx) seed(j *Job, n int64, s string, noScheme bool) error {
	u, err := crawl.Parse(s)
	if err != nil {
		return err
	}
	flags := crawl.FlagSeed
	if noScheme {
		flags |= crawl.FlagNoScheme
	}
	if j.Identity.StripSession {
		u = u.StripSession()
	}
	at, subset := j.home(j.part(s, "", n))
	t := x.task(at, subset, u.Site())
	return x.add(j, t, crawl.Key{}, u, &record{Flags: flags})
}
