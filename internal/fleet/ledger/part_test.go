package ledger_test

import (
	"cmp"
	"fmt"
	"math/rand/v2"
	"slices"
	"testing"

	gocmp "github.com/google/go-cmp/cmp"

	"argosy/internal/crawl"
	"argosy/internal/fleet/ledger"
	"argosy/internal/testkit/seeds"
)

// What parts say of their leases does not depend on which entries share a transaction: those of one job come together, those of the
// other one each alone. Some parts come twice, some are missing or somebody else's, and leases are granted and end in between.
func TestPartsTogetherAsApart(t *testing.T) {
	both(t, func(t *testing.T, open func() *ledger.Ledger) {
		const jobs, most = 2, 40 // leases of a job
		l := open()
		if err := l.Rebase(t.Context(), "stream", 0); err != nil {
			t.Fatal(err)
		}
		seq := uint64(0)
		for job := range uint32(jobs) {
			rng := rand.New(rand.NewPCG(3, 4)) // the same for both
			id := func(lease int) uint64 { return uint64(job)*1000 + uint64(lease) + 1 }
			var applied []ledger.Applied
			add := func(e crawl.Entry) {
				seq++
				applied = append(applied, ledger.Applied{Seq: seq, At: int64(len(applied)), Entry: &e})
			}
			var next []uint32 // parts of the leases so far
			for range seeds.Of(60, 150) {
				switch n := rng.IntN(10); {
				case len(next) == 0 || n < 3 && len(next) < most:
					lease := crawl.Lease{ID: id(len(next)), Job: job + 1, Task: 1, Site: "a.test", Node: "n", Incarnation: "i", Secret: "s", Asked: &crawl.Asked{No: 1}}
					add(crawl.Entry{Kind: crawl.EntryGrant, Leases: []crawl.Lease{lease}})
					next = append(next, 0)
				case n == 3:
					add(crawl.Entry{Kind: crawl.EntryRecall, Recalls: []crawl.Recall{{Lease: id(rng.IntN(len(next))), Reason: crawl.EndRecalled}}})
				default:
					e := crawl.Entry{Kind: crawl.EntryParts, Node: "n", Incarnation: "i"}
					for range rng.IntN(40) {
						lease := rng.IntN(len(next) + 1) // there is one that nobody knows
						p := crawl.Part{Lease: id(lease), Secret: "s", Bytes: 7, WorkedUS: int64(rng.IntN(1000)), Final: rng.IntN(50) == 0}
						for range rng.IntN(4) {
							p.Outcomes = append(p.Outcomes, page(rng.IntN(5000), crawl.Fetched))
						}
						if lease < len(next) {
							if p.No = next[lease]; rng.IntN(8) > 0 { // else it is a repeat
								p.No++
							}
							switch rng.IntN(30) {
							case 0:
								p.Secret = "x"
							case 1:
								p.No++ // one is missing
							default:
								next[lease] = max(next[lease], p.No)
							}
						}
						e.Parts = append(e.Parts, p)
					}
					add(e)
				}
			}
			for batch := range slices.Chunk(applied, []int{len(applied), 1}[job]) {
				if err := l.Apply(t.Context(), batch); err != nil {
					t.Fatal(err)
				}
			}
		}
		var said [jobs][]string
		reports, collected := 0, int64(0)
		for job := range uint32(jobs) {
			err := l.Traces(t.Context(), job+1, 0, func(tr *ledger.Trace) error {
				tr.Lease %= 1000
				slices.SortFunc(tr.Parts, func(a, b ledger.Part) int {
					return cmp.Or(cmp.Compare(a.At, b.At), cmp.Compare(a.WorkedUS, b.WorkedUS))
				})
				reports += len(tr.Parts)
				said[job] = append(said[job], fmt.Sprintf("%+v", *tr))
				return nil
			})
			if err != nil {
				t.Fatal(err)
			}
			err = l.Runs(t.Context(), job+1, 0, func(r ledger.Run) error {
				r.Lease %= 1000
				collected += r.Good
				said[job] = append(said[job], fmt.Sprintf("%+v", r))
				return nil
			})
			if err != nil {
				t.Fatal(err)
			}
		}
		if d := gocmp.Diff(said[0], said[1]); d != "" || len(said[0]) < most || reports < 700 || collected < 700 {
			t.Errorf("%d leases, %d reports, %d collected: %s", len(said[0])/2, reports, collected, d)
		}
	})
}
