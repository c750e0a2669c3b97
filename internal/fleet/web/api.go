// Package web is what people and programs reach over HTTP: the API of a coordinator under /api/v1 (OpenAPI at
// /api/v1/openapi.json), and the client of it that the commands use. It holds no policy: every order goes to the
// coordinator, every answer comes from it.
//
// Everybody shows a token, except who asks over a Unix socket that nobody else can open. What a role may do is in guard.go.
package web

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"log/slog"
	"net/http"
	"reflect"
	"strings"
	"sync/atomic"
	"time"

	"github.com/danielgtaylor/huma/v2"
	"github.com/danielgtaylor/huma/v2/adapters/humago"

	"argosy/internal/config"
	"argosy/internal/crawl"
	"argosy/internal/fleet/access"
	"argosy/internal/fleet/answer"
	"argosy/internal/fleet/bus"
	"argosy/internal/fleet/coordinator"
	"argosy/internal/fleet/dash"
	"argosy/internal/fleet/gate"
	"argosy/internal/fleet/ledger"
	"argosy/internal/fleet/serve"
	"argosy/internal/fleet/survey"
	"argosy/internal/fleet/usage"
	"argosy/internal/plan/schedule"
)

// Config says what the API answers with.
type Config struct {
	UserAgent string // of jobs that name none
	Version   string
	Logger    *slog.Logger
	Kind      string                                // of the house; empty: KindFleet
	Who       func(token string) (access.Who, bool) // whom a token lets in; nil: the fleet's gate says so, and without one no token lets anybody in
	Door      *Door                                 // nil: one that nobody has a link to
	Ending    <-chan struct{}                       // closed when the process is about to end: streams end, so that answers can be waited for; nil: never
	Hosts     []string                              // names, in lower case, by which browsers may ask for us, besides addresses and this machine's
}

// maxBody bounds what is sent to us, in bytes.
const maxBody = 17 << 20

// Handler returns the API of a house, and the pages by which people use it.
func Handler(s House, c Config) http.Handler {
	mux := http.NewServeMux()
	hc := huma.DefaultConfig("Argosy", c.Version)
	hc.OpenAPIPath, hc.DocsPath, hc.SchemasPath, hc.CreateHooks = "/api/v1/openapi", "", "", nil
	hc.Transformers = append(hc.Transformers, clipped)
	hc.Info.Description = "What a coordinator, or a crawl that listens, tells programs of what it does, and what they can order."
	hc.Servers = []*huma.Server{{URL: "/", Description: "whoever serves this description"}}
	hc.Components.SecuritySchemes = map[string]*huma.SecurityScheme{"token": {Type: "http", Scheme: "bearer", Description: "argosy token create makes one"}}
	hc.Security = []map[string][]string{{"token": {}}}
	a := &api{s: s, cfg: c, door: c.Door, tickets: newTickets(), replays: make(answer.Places, maxReplays), recordings: make(answer.Places, 1), trees: make(answer.Places, 1), files: make(answer.Places, 1)}
	if a.door == nil {
		a.door = NewDoor()
	}
	if a.cfg.Kind == "" {
		a.cfg.Kind = KindFleet
	}
	if f, ok := s.(*serve.Server); ok {
		a.fleet = f
		if a.cfg.Who == nil {
			a.cfg.Who = func(token string) (access.Who, bool) { return f.Gate().Who(token) } // of the moment
		}
	}
	described := humago.New(mux, hc)
	described.UseMiddleware(a.sensible(described))
	a.register(described)
	describe(described.OpenAPI())
	mux.HandleFunc("GET /healthz", alive)
	mux.HandleFunc("GET /readyz", a.ready)
	mux.HandleFunc("GET /metrics", a.metrics)
	mux.HandleFunc("GET /debug/pprof/{name}", a.profile)
	mux.HandleFunc("GET /traces/{job}", a.traces)
	mux.HandleFunc("GET /{$}", func(w http.ResponseWriter, r *http.Request) {
		if !a.ourName(r.Host) {
			http.Error(w, notOurs(r.Host), http.StatusMisdirectedRequest)
			return
		}
		dash.Serve(w, r, "index.html")
	})
	mux.HandleFunc("GET "+archivePath+"{ticket}", a.archived)
	for _, name := range dash.Names {
		mux.HandleFunc("GET /dash/"+name, func(w http.ResponseWriter, r *http.Request) { dash.Serve(w, r, name) })
	}
	return a.guard(mux)
}

type api struct {
	s       House
	fleet   *serve.Server // the house, where it is a fleet's
	cfg     Config
	door    *Door
	tickets *tickets
	streams atomic.Int32 // of events
	again   answer.Once
	replays answer.Places // a place for each archived page that is being read or sent

	recordings answer.Places // the place for one that is being read
	trees      answer.Places // the place for one that is being made
	files      answer.Places // the place for a job file that is being read: the reader's memory is many times a file's

	kept answer.Kept // that took long
}

// byToken returns whom a token lets in.
func (a *api) byToken(token string) (access.Who, bool) {
	if a.cfg.Who == nil || token == "" {
		return access.Who{}, false
	}
	return a.cfg.Who(token)
}

// Status is what a coordinator says of itself.
type Status struct {
	Version string `json:"version"`
	Kind    string `json:"kind"` // fleet; crawl: one job, in the process that answers; over: nothing runs
	Leads   bool   `json:"leads"`
	State   string `json:"state"`
	Epoch   uint64 `json:"epoch"`
	Applied uint64 `json:"applied"` // entries of the log
	Nodes   int    `json:"nodes"`
	Leases  int    `json:"leases"`
	Waiting int    `json:"waiting"` // tasks
	Sites   int    `json:"sites"`
	CPUMS   int64  `json:"cpu_ms"` // of this process so far
}

// Job is a job, and whether its index has been written.
type Job struct {
	coordinator.JobView
	Indexed bool     `json:"indexed"`
	Notes   []string `json:"notes,omitempty"` // what of its limits does not do what it says, a line each
}

// Submitted is the answer to a job.
type Submitted struct {
	Job uint32 `json:"job"`
}

// Sown is the answer to a piece of a job's seeds: how many are in.
type Sown struct {
	Seeds int64 `json:"seeds_in"`
}

// Petition is a node that wants credentials. What a later version says besides is not a mistake.
type Petition struct {
	bus.Petition
	_ struct{} `json:"-" additionalProperties:"true"`
}

// Challenge is what a node signs to show that it has its key.
type Challenge struct {
	Challenge string `json:"challenge"`
	Wire      int    `json:"wire"`
	Version   string `json:"version"`
}

// Named is a node, by its name.
type Named struct {
	Node string `json:"node"`
}

// NamedTasks are those that an order is about.
type NamedTasks struct {
	Sites []string `json:"sites,omitempty" doc:"names of sites, whose tasks these are"`
	Tasks []uint32 `json:"tasks,omitempty" maxItems:"10000" doc:"numbers of tasks"`
	Why   string   `json:"why,omitempty" maxLength:"200"`
	_     struct{} `json:"-" additionalProperties:"false"`
}

// words says what is asked for.
func (r *NamedTasks) words(verb string, job uint32) string {
	what := fmt.Sprintf("%s job %d", verb, job)
	if len(r.Sites) > 0 {
		what += ": " + strings.Join(r.Sites[:min(len(r.Sites), 10)], " ")
	}
	if n := len(r.Tasks); n > 0 {
		what += fmt.Sprintf(": tasks %v", r.Tasks[:min(n, 10)])
	}
	return what
}

// Released says what came of it.
type Released struct {
	Tasks   int   `json:"tasks"`
	Pending int64 `json:"pending"`
	Manual  int64 `json:"manual"`

	Left []string `json:"left,omitempty" doc:"Named tasks that stay as they are, each with the reason."`
}

type out[T any] struct{ Body T }

// JobPath names a job.
type JobPath struct {
	ID uint32 `path:"id" minimum:"1" maximum:"4294967295"`
}

// NodePath names a node.
type NodePath struct {
	Node string `path:"node" maxLength:"64"`
}

// problem turns an error into its answer (RFC 9457).
func problem(err error) error {
	var fault *crawl.Fault
	var refused *access.Refusal
	var said huma.StatusError
	var full *answer.FullError
	switch {
	case errors.As(err, &fault):
		return huma.Error422UnprocessableEntity(err.Error())
	case err == nil:
		return nil
	case errors.As(err, &said):
		return said
	case errors.As(err, &refused):
		return refusal(refused)
	case errors.Is(err, bus.ErrAway), errors.As(err, &full):
		return huma.Error503ServiceUnavailable(err.Error())
	case errors.Is(err, coordinator.ErrWaits), errors.Is(err, ledger.ErrAway): // another one would say only that it stands by
		return huma.Error504GatewayTimeout(err.Error())
	case errors.Is(err, schedule.ErrNoPlaces), errors.As(err, new(schedule.Missing)), errors.Is(err, coordinator.ErrUnnamed):
		return huma.Error422UnprocessableEntity(err.Error())
	case errors.Is(err, gate.ErrNoToken), errors.Is(err, gate.ErrNoName):
		return huma.Error404NotFound(err.Error())
	case errors.Is(err, gate.ErrMany), errors.Is(err, gate.ErrElsewhere):
		return huma.Error409Conflict(err.Error())
	case errors.Is(err, serve.ErrStandby), errors.Is(err, coordinator.ErrOver):
		return huma.Error503ServiceUnavailable(err.Error())
	case errors.Is(err, coordinator.ErrNoJob), errors.Is(err, coordinator.ErrNoNode), errors.Is(err, coordinator.ErrNoTask):
		return huma.Error404NotFound(err.Error())
	case errors.Is(err, coordinator.ErrState), errors.Is(err, coordinator.ErrDropped), errors.Is(err, coordinator.ErrIdle), errors.Is(err, coordinator.ErrSearch), errors.Is(err, coordinator.ErrEdit), errors.Is(err, survey.ErrNoTopic), errors.Is(err, errWide), errors.Is(err, gate.ErrNoKeys):
		return huma.Error409Conflict(err.Error())
	}
	return huma.Error500InternalServerError(err.Error())
}

// orderTime bounds how long an order may take: the log may be away.
const orderTime = 20 * time.Second

// lead runs fn with the coordinator, if it leads.
func lead[T any](ctx context.Context, a *api, fn func(context.Context, *coordinator.Coordinator) (T, error)) (*out[T], error) {
	co, err := a.s.Leader()
	if err != nil {
		return nil, problem(err)
	}
	ctx, cancel := context.WithTimeout(ctx, orderTime)
	defer cancel()
	v, err := fn(ctx, co)
	if err != nil {
		return nil, problem(err)
	}
	return &out[T]{v}, nil
}

// register has fn answer an operation. What it answers with stands in the description, and is not a type of huma's function: that is made
// anew for each pair of types, and takes 20 KB each time.
func register[I, T any](h huma.API, op huma.Operation, fn func(context.Context, *I) (*out[T], error)) {
	schema := h.OpenAPI().Components.Schemas.Schema(reflect.TypeFor[T](), true, op.OperationID+"Response")
	op.Responses = map[string]*huma.Response{"200": {Content: map[string]*huma.MediaType{"application/json": {Schema: schema}}}}
	huma.Register(h, op, func(ctx context.Context, in *I) (*out[any], error) {
		v, err := fn(ctx, in)
		if err != nil {
			return nil, err
		}
		return &out[any]{v.Body}, nil
	})
}

func (a *api) register(h huma.API) {
	get := func(id, path, what string) huma.Operation {
		return huma.Operation{OperationID: id, Method: http.MethodGet, Path: "/api/v1" + path, Summary: what}
	}
	post := func(id, path, what string) huma.Operation {
		return huma.Operation{OperationID: id, Method: http.MethodPost, Path: "/api/v1" + path, Summary: what, MaxBodyBytes: maxBody}
	}
	register(h, get("status", "/status", "What the coordinator says of itself"), a.status)
	huma.Register(h, get("jobs", "/jobs", "All jobs"), a.jobs)
	register(h, get("job", "/jobs/{id}", "A job"), a.job)
	register(h, post("submit", "/jobs", "Submit a job file (YAML or JSON)"), a.submit)
	register(h, post("sow", "/jobs/{id}/seeds", "Give the next piece of a job's seeds, a line each"), a.sow)
	for state, op := range map[string]huma.Operation{
		crawl.JobPaused:    post("pause", "/jobs/{id}/pause", "Pause a job: its leases end, nothing is lost"),
		crawl.JobRunning:   post("resume", "/jobs/{id}/resume", "Resume a job that is paused, or has reached a limit that was raised"),
		crawl.JobCancelled: post("cancel", "/jobs/{id}/cancel", "Cancel a job for good: what is pending is excluded"),
	} {
		verb := op.OperationID
		register(h, op, func(ctx context.Context, in *JobPath) (*out[Job], error) {
			return order(ctx, a, fmt.Sprintf("%s job %d", verb, in.ID), func(ctx context.Context, co *coordinator.Coordinator) (Job, error) {
				if err := co.SetState(ctx, in.ID, state); err != nil {
					return Job{}, err
				}
				return a.find(ctx, co, in.ID)
			})
		})
	}
	register(h, post("limits", "/jobs/{id}/limits", "Change limits, sites and placing of a job: a job file with these keys alone. What is not named stays; sites with the hosts of a rule change that one, others are added, an empty list takes all away"), a.limits)
	register(h, post("retry", "/jobs/{id}/retry", "Release manual tasks and try failed URLs again"), a.retry)
	register(h, post("drop", "/jobs/{id}/drop", "Give tasks up for good: what they have pending is excluded"), a.drop)
	register(h, post("edit", "/jobs/{id}/tasks/{task}/edit", "Change a search that is not over and that no node has, and let it go on"), a.edit)
	huma.Register(h, get("runs", "/jobs/{id}/runs", "The leases of a job's searches, with all their parameters"), a.runs)
	huma.Register(h, get("nodes", "/nodes", "The nodes, what they cost and have earned"), a.nodes)
	register(h, get("reservation", "/reservation", "How many nodes to reserve, from how many were at work so far"), a.reservation)
	for _, op := range []huma.Operation{
		post("drain", "/nodes/{node}/drain", "Drain a node: its leases end, and it takes no more"),
		post("return", "/nodes/{node}/return", "Let a node that was drained take leases again"),
	} {
		verb := op.OperationID
		register(h, op, func(ctx context.Context, in *NodePath) (*out[Named], error) {
			return order(ctx, a, verb+" node "+in.Node, func(ctx context.Context, co *coordinator.Coordinator) (Named, error) {
				return Named{in.Node}, co.DrainNode(ctx, in.Node, verb == "return")
			})
		})
	}
	a.registerEntry(h, get, post)
	a.registerEvents(h, get)
	a.registerLooks(h, get)
	a.registerDecisions(h, get)
	a.registerPages(h, get)
	a.registerTopics(h, get)
	register(h, get("orders", "/orders", "Who has ordered what, the newest first"), func(ctx context.Context, in *struct {
		Find  string `query:"find" maxLength:"256" doc:"stands in who or what, in any case"`
		Limit int    `query:"limit" minimum:"1" maximum:"1000" default:"100"`
		Skip  int    `query:"skip" minimum:"0" maximum:"1000000000"`
	}) (*out[[]ledger.Order], error) {
		return lead(ctx, a, func(ctx context.Context, co *coordinator.Coordinator) ([]ledger.Order, error) {
			return co.Orders(ctx, ledger.OrderQuery{Find: in.Find, Skip: in.Skip, Limit: in.Limit})
		})
	})
	if a.fleet != nil {
		a.registerAccess(h, get, post)
	}
}

func (a *api) status(_ context.Context, _ *struct{}) (*out[Status], error) {
	return &out[Status]{a.statusNow()}, nil
}

func (a *api) statusNow() Status {
	st := Status{Version: a.cfg.Version, Kind: a.cfg.Kind, State: "standby", CPUMS: usage.CPU().Milliseconds()}
	if co, err := a.s.Leader(); err == nil {
		s := co.Status()
		st.Leads, st.State, st.Epoch, st.Applied, st.Nodes = true, s.State, s.Epoch, s.Applied, s.Nodes
		st.Leases, st.Waiting, st.Sites = s.Leases, s.Waiting, s.Sites
	}
	return st
}

func (a *api) view(j coordinator.JobView) Job {
	j.Identity.Seeds = append([]string{}, j.Identity.Seeds[:min(len(j.Identity.Seeds), maxSeeds)]...)
	return Job{j, a.s.Indexed(j.ID), j.Impatient()}
}

// maxSeeds bounds how many of a job's seeds are shown.
const maxSeeds = 100

func (a *api) find(ctx context.Context, co *coordinator.Coordinator, id uint32) (Job, error) {
	all, err := co.Jobs(ctx)
	for i := range all {
		if all[i].ID == id {
			return a.view(all[i]), nil
		}
	}
	return Job{}, errors.Join(err, coordinator.ErrNoJob)
}

func (a *api) job(ctx context.Context, in *JobPath) (*out[Job], error) {
	return lead(ctx, a, func(ctx context.Context, co *coordinator.Coordinator) (Job, error) { return a.find(ctx, co, in.ID) })
}

// readJob reads a job file, one at a time.
func (a *api) readJob(ctx context.Context, b []byte) (config.Job, error) {
	leave, err := a.files.Take(ctx)
	if err != nil {
		return config.Job{}, err
	}
	defer leave()
	file, err := config.ReadJob(bytes.NewReader(b))
	if err != nil {
		err = huma.Error422UnprocessableEntity(err.Error())
	}
	return file, err
}

func (a *api) submit(ctx context.Context, in *struct {
	Seeds   int64  `query:"seeds" minimum:"0" doc:"the file has no seeds: so many follow in pieces"`
	Digest  string `query:"digest" maxLength:"64" doc:"SHA-256 of the seeds that follow, to tell jobs apart"`
	RawBody []byte `contentType:"application/yaml"`
}) (*out[Submitted], error) {
	file, err := a.readJob(ctx, in.RawBody)
	if err != nil {
		return nil, err
	}
	var job crawl.Job
	if in.Seeds > 0 {
		job, err = file.Followed(a.cfg.UserAgent, crawl.SeedList{Count: in.Seeds, Digest: in.Digest})
	} else {
		job, err = file.Submitted(a.cfg.UserAgent)
	}
	if err == nil {
		err = serve.CheckJob(&job)
	}
	if err != nil {
		return nil, huma.Error422UnprocessableEntity(config.Placed(in.RawBody, err).Error())
	}
	return order(ctx, a, job.Identity.Submission(), func(ctx context.Context, co *coordinator.Coordinator) (Submitted, error) {
		id, err := co.Submit(ctx, job)
		return Submitted{id}, err
	})
}

// sow takes in a piece of a job's seeds, a line each.
func (a *api) sow(ctx context.Context, in *struct {
	JobPath
	From    int64  `query:"from" minimum:"0" doc:"how many seeds are before these"`
	RawBody []byte `contentType:"text/plain"`
}) (*out[Sown], error) {
	chunk, size := crawl.SeedChunk{Job: in.ID, From: in.From}, 0
	var check config.SeedChecker
	err := config.SeedLines(bytes.NewReader(in.RawBody), func(line int, text string) error {
		seed, ok := check.Read(text, func() string { return fmt.Sprintf("line %d", line) })
		if ok && !chunk.Add(seed.URL, seed.NoScheme, &size) {
			return fmt.Errorf("line %d: too many: allowed are %d seeds and %d bytes at once", line, crawl.MaxChunk, crawl.MaxChunkBytes)
		}
		return nil
	})
	if err == nil {
		err = check.Err()
	}
	if err != nil {
		return nil, huma.Error422UnprocessableEntity(err.Error())
	}
	if a.cfg.Kind == KindOver {
		return nil, huma.Error409Conflict(onlyShown)
	}
	return lead(ctx, a, func(ctx context.Context, co *coordinator.Coordinator) (Sown, error) {
		n, err := co.Sow(ctx, chunk)
		return Sown{n}, err
	})
}

func (a *api) limits(ctx context.Context, in *struct {
	JobPath
	RawBody []byte `contentType:"application/yaml"`
}) (*out[Job], error) {
	file, err := a.readJob(ctx, in.RawBody)
	if err != nil {
		return nil, err
	}
	if err := file.Changeable(); err != nil {
		return nil, huma.Error422UnprocessableEntity(err.Error())
	}
	what := fmt.Sprintf("limits of job %d: %s", in.ID, strings.Join(strings.Fields(string(in.RawBody[:min(len(in.RawBody), 500)])), " "))
	return order(ctx, a, what, func(ctx context.Context, co *coordinator.Coordinator) (Job, error) {
		err := co.SetLimits(ctx, in.ID, func(j *crawl.Job) error {
			file.Change(j)
			if err := serve.CheckJob(j); err != nil {
				return huma.Error422UnprocessableEntity(err.Error())
			}
			return nil
		})
		if err != nil {
			return Job{}, err
		}
		return a.find(ctx, co, in.ID)
	})
}

func (a *api) retry(ctx context.Context, in *struct {
	JobPath
	Body Release
}) (*out[Released], error) {
	pages := make([]crawl.Page, len(in.Body.Lost))
	for i, b := range in.Body.Lost {
		var ok bool
		if pages[i], ok = crawl.PageOf(b); !ok {
			return nil, huma.Error422UnprocessableEntity(fmt.Sprintf("lost: %x is not the key of a page", b))
		}
	}
	r := crawl.Release{Job: in.ID, Lost: pages, Cut: in.Body.Cut, Gone: in.Body.Gone, Keep: len(in.Body.Gone) > 0}
	if r.Cut && len(pages)+len(r.Gone) > 0 {
		return nil, huma.Error422UnprocessableEntity("lost and cut: one at a time")
	}
	if in.Body.Status == "" {
		return a.release(ctx, crawl.EntryRetry, in.Body.words(in.ID), in.Body.NamedTasks, r, nil)
	}
	answered, err := StatusesOf(in.Body.Status)
	if err != nil || len(pages)+len(r.Gone) > 0 || r.Cut || len(in.Body.Tasks) > 0 {
		return nil, huma.Error422UnprocessableEntity(fmt.Sprintf("status %q: with sites alone, from 100 to 599, or 4xx, 5xx", in.Body.Status))
	}
	r.Keep = true
	return a.release(ctx, crawl.EntryRetry, in.Body.words(in.ID), in.Body.NamedTasks, r, answered)
}

func (a *api) drop(ctx context.Context, in *struct {
	JobPath
	Body NamedTasks
}) (*out[Released], error) {
	return a.release(ctx, crawl.EntryDrop, in.Body.words("drop", in.ID), in.Body, crawl.Release{Job: in.ID}, nil)
}

// release gives an order about tasks, or, of these, about the pages that were answered with some statuses; words says it for the log of orders.
func (a *api) release(ctx context.Context, kind crawl.EntryKind, words string, of NamedTasks, r crawl.Release, answered []int) (*out[Released], error) {
	r.Tasks, r.Why = of.Tasks, of.Why
	if r.Why == "" {
		r.Why = "by a person"
	}
	return order(ctx, a, words, func(ctx context.Context, co *coordinator.Coordinator) (Released, error) {
		var did coordinator.Ordered
		var err error
		if answered != nil {
			r.Lost, err = co.Answered(ctx, r.Job, of.Sites, answered)
		}
		if err == nil && (answered == nil || len(r.Lost) > 0) {
			did, err = co.Release(ctx, kind, of.Sites, r)
		}
		if err != nil {
			return Released{}, err
		}
		j, err := a.find(ctx, co, r.Job)
		return Released{Tasks: did.Tasks, Pending: j.Counts.Pending, Manual: j.Counts.Manual, Left: did.Left}, err
	})
}

func (a *api) reservation(ctx context.Context, _ *struct{}) (*out[coordinator.Reservation], error) {
	return lead(ctx, a, func(ctx context.Context, co *coordinator.Coordinator) (coordinator.Reservation, error) {
		return co.Reserve(ctx)
	})
}
