package term

import (
	"testing"
	"time"

	"argosy/internal/crawl"
)

// The inequalities between the spans of the table, for terms from the least to a day, and for every connect time-out.
func TestSpans(t *testing.T) {
	const tick = 100 * time.Millisecond // an agent looks at its leases this often
	for term := leastTerm; term < 24*time.Hour; term = term*5/4 + 7*time.Millisecond {
		for _, connect := range []time.Duration{0, time.Second, 10 * time.Second, time.Hour} {
			limits := crawl.DefaultLimits()
			limits.RecycleAfter, limits.Fetch.ConnectTimeout = term, connect
			s := Of(&limits)
			for what, holds := range map[string]bool{
				"a holder that cannot report stops before it is judged":                  s.Stop() < s.Term && s.Term <= s.Recall(),
				"its last request has ended by then":                                     s.Term+s.Fetch <= s.Recall() && s.Fetch >= 0,
				"between its stop and the judgement there is time for a part on its way": s.Recall()-s.Stop() >= s.Term/4,
				"a report that is lost once does not stop it":                            2*s.Heartbeat()+tick <= s.Stop(),
				"what it has to say does not wait longer than what it has not":           s.Flush(time.Hour) <= max(s.Heartbeat(), share(term, flushShare)),
				"a hint that is lost is made up for within the term":                     2*s.Resend() < s.Term,
				"the dispatch of a hint is taken for lost after its first part was due":  s.Resend() > s.Flush(300*time.Millisecond),
				"what a node said before it left is waited for less than its term":       leftFor <= s.Recall(),
				"a lease is judged several times in its term":                            4*JudgeEvery <= s.Term,
			} {
				if !holds {
					t.Errorf("term %v, connect time-out %v: not true that %s: %+v", term, connect, what, s)
				}
			}
		}
	}
	for what, holds := range map[string]bool{
		"a registration may be lost twice":                              2*Renew < NodeTTL,
		"a loop that was deaf for less has heard every node that lives": deaf <= Renew,
		"a log that is slow is not believed for longer than it is slow": slowLog < soundFor,
		"what shows that the log is sound is judged by":                 JudgeEvery < soundFor,
		"a holder that starves says so more often than it has to":       AskAgain < mostHeart,
	} {
		if !holds {
			t.Errorf("not true that %s", what)
		}
	}
}

// Whoever starves asks again after 2, 4, 8 and 15 s, and after a refill begins anew; what is sent again is taken in once.
func TestStarving(t *testing.T) {
	limits := crawl.DefaultLimits()
	now := time.Unix(1_700_000_000, 0)
	h := Hold(Of(&limits), now)
	h.Wish(true)
	for i, want := range []time.Duration{2, 4, 8, 15, 15} {
		if h.Repeat(now.Add(want*time.Second-1), true) {
			t.Errorf("repeat %d comes before %d s", i+1, want)
		}
		now = now.Add(want * time.Second)
		if h.Repeat(now, false) {
			t.Error("a holder that has work starves")
		}
		if !h.Repeat(now, true) || h.Ask != Wants {
			t.Errorf("repeat %d does not come after %d s", i+1, want)
		}
		h.Wish(true)
		h.Store(now, false)
	}
	if h.Refill(now, true, 1) || !h.Refill(now, true, 0) || h.Refill(now, true, 0) || !h.Refill(now, false, 0) {
		t.Error("a refill that was repeated is not taken in once")
	}
	if h.Ask != Content || h.Got() != 2 {
		t.Errorf("%+v", h)
	}
	h.Wish(true)
	if !h.Repeat(now.Add(AskAgain), true) {
		t.Error("after a refill the first repeat does not come as soon as at first")
	}
}

// Judge, case by case.
func TestJudge(t *testing.T) {
	limits := crawl.DefaultLimits()
	s := Of(&limits)
	now := time.Unix(1_700_000_000, 0)
	ago := func(d time.Duration) time.Time { return now.Add(-d) }
	heard := func(at, back time.Duration) *Contact { return &Contact{Seen: ago(at), heard: ago(at), back: ago(back)} }
	long, budget := 10*s.Recall(), limits.LeaseTime
	most := s.Most(budget)
	for what, c := range map[string]struct {
		signs Signs
		want  Verdict
	}{
		"progress a moment ago":                     {Signs{Progress: ago(time.Second), Node: heard(0, long)}, Goes},
		"none for the term":                         {Signs{Progress: ago(s.Term), Node: heard(0, long)}, Goes},
		"none for the term and a fetch time-out":    {Signs{Progress: ago(s.Recall() + 1), Node: heard(0, long)}, Silent},
		"nobody there, progress a moment ago":       {Signs{Progress: ago(time.Second)}, Goes},
		"nobody there for long":                     {Signs{Progress: ago(s.Recall() + 1), Trouble: ago(long)}, Dead},
		"another life":                              {Signs{Progress: now, Node: heard(0, long), Other: true}, Dead},
		"left, with a part on its way":              {Signs{Progress: now, Node: &Contact{Left: true}}, Goes},
		"left":                                      {Signs{Progress: ago(leftFor + 1), Node: &Contact{Left: true}}, Dead},
		"not heard since the owner came back":       {Signs{Progress: ago(long), Node: heard(long, long), Trouble: ago(NodeTTL)}, Goes},
		"not heard until it must be gone":           {Signs{Progress: ago(long), Node: heard(long, long), Trouble: ago(NodeTTL + 1)}, Dead},
		"not there until it must be gone":           {Signs{Progress: ago(long), Trouble: ago(NodeTTL + 1)}, Dead},
		"not there, and its term is not over":       {Signs{Progress: ago(s.Recall()), Trouble: ago(NodeTTL + 1)}, Goes},
		"not there, and the owner has just come":    {Signs{Progress: ago(long), Trouble: ago(NodeTTL)}, Goes},
		"heard again a moment ago":                  {Signs{Progress: ago(long), Node: heard(0, time.Second), Trouble: ago(s.Recall() + NodeTTL + 1)}, Goes},
		"heard again for long, and no progress yet": {Signs{Progress: ago(long), Node: heard(0, s.Recall()+1), Trouble: ago(long)}, Silent},
		"open for as long as one may be":            {Signs{Progress: now, Node: heard(0, most), Trouble: ago(most), Began: ago(most), Budget: budget}, Goes},
		"open for longer, and still progress":       {Signs{Progress: now, Node: heard(0, most+1), Trouble: ago(most + 1), Began: ago(most + 1), Budget: budget}, Overdue},
		"for longer, and heard again not for long":  {Signs{Progress: now, Node: heard(0, most), Trouble: ago(most + 1), Began: ago(most + 1), Budget: budget}, Goes},
		"for longer, and the owner has just come":   {Signs{Progress: now, Node: heard(0, 0), Trouble: ago(1), Began: ago(most + 1), Budget: budget}, Goes},
	} {
		if got := Judge(s, now, c.signs); got != c.want {
			t.Errorf("%s: %d, want %d", what, got, c.want)
		}
	}
}

// A loop that did not turn, and a log that was slow, are trouble; neither is a short rest, nor a disk that is always slow.
func TestHearing(t *testing.T) {
	now := time.Unix(1_700_000_000, 0)
	h := Hearing{Began: now}
	h.Turn(now)
	now = now.Add(deaf)
	if h.Turn(now); h.Trouble() != h.Began {
		t.Error("a short rest is trouble")
	}
	now = now.Add(deaf + 1)
	if h.Turn(now); h.Trouble() != now {
		t.Error("a long rest is no trouble")
	}
	was := h.Trouble()
	if h.Sound(now, 9) {
		t.Error("sound without a mark")
	}
	h.Mark(9, now.Add(-slowLog), now, time.Second)
	if h.Trouble() != was || h.Sound(now, 8) || !h.Sound(now, 9) || h.Sound(now.Add(soundFor), 9) {
		t.Error("a log that was fast enough")
	}
	h.Mark(10, now.Add(-slowLog-1), now, time.Hour)
	if h.Trouble() != was {
		t.Error("a disk that is slow, by the terms")
	}
	now = now.Add(time.Second)
	h.Mark(11, now.Add(-slowLog-1), now, time.Second)
	if h.Trouble() != now {
		t.Error("a log that was slow is no trouble")
	}
}

// A holder that an owner has sent its lease again has stopped asking when a later owner, which has never heard of it, gives the site to
// another one: whenever each of the two began to lead, and whenever the holder was heard between.
func TestTermsOutliveOwners(t *testing.T) {
	limits := crawl.DefaultLimits()
	s := Of(&limits)
	progress := time.Unix(1_700_000_000, 0)
	at := func(seconds int) time.Time { return progress.Add(time.Duration(seconds) * time.Second) }
	for sent := 0; sent < 120; sent += 5 {
		for began := sent; began < sent+60; began += 5 { // the later owner
			h := Hold(s, at(sent).Add(-Age(at(sent), progress)))
			for now := began; now < began+200; now++ {
				if Judge(s, at(now), Signs{Progress: progress, Trouble: at(began)}) == Goes {
					continue
				}
				if h.MayAsk(at(now).Add(-s.Fetch)) {
					t.Fatalf("sent %d s after the last progress: another holder is let in by an owner of %d s at %d s, and this one asks", sent, began, now)
				}
				break
			}
		}
	}
}
