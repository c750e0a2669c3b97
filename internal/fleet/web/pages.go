package web

import (
	"context"
	"encoding/hex"
	"errors"
	"fmt"
	"time"

	"github.com/danielgtaylor/huma/v2"

	"argosy/internal/crawl"
	"argosy/internal/fleet/ledger"
	"argosy/internal/fleet/shelf"
)

// PageRow is a page with the name that the API has for it.
type PageRow struct {
	Key string `json:"key"`
	*ledger.Page
}

// PageList is a part of the pages of a job.
type PageList struct {
	Pages []PageRow `json:"pages"`
	More  bool      `json:"more"` // there are others
}

// PageView is a page with what is archived of it.
type PageView struct {
	PageRow
	Request  string `json:"request,omitempty"`  // its head, as it was sent
	Response string `json:"response,omitempty"` // its head, as it came
	Text     string `json:"text,omitempty"`     // what it says
	Cut      bool   `json:"cut,omitempty"`      // the text is longer
	Replay   string `json:"replay,omitempty"`   // where the archived page is shown, for an hour
	Trouble  string `json:"trouble,omitempty"`  // why the archive could not be read
	Later    bool   `json:"later,omitempty" doc:"the body is there later: it lies with another page, which no node has reported yet"`
}

func (a *api) registerPages(h huma.API, get func(id, path, what string) huma.Operation) {
	register(h, get("pages", "/jobs/{id}/pages", "The pages of a job, those that were reported last first"), func(ctx context.Context, in *struct {
		JobPath
		State string `query:"state" enum:"fetched,failed,excluded"`
		Class int    `query:"class" minimum:"1" maximum:"5" doc:"of the status: 4 is 400 to 499"`
		Mime  string `query:"mime" maxLength:"128" doc:"what the type begins with"`
		Site  string `query:"site" maxLength:"300" doc:"stands in the name of the site"`
		Node  string `query:"node" maxLength:"64"`
		Find  string `query:"find" maxLength:"256" doc:"stands in the URL or the title"`
		Limit int    `query:"limit" minimum:"1" maximum:"1000" default:"50"`
		Skip  int    `query:"skip" minimum:"0" maximum:"1000000"`
	}) (*out[PageList], error) {
		q := ledger.PageQuery{State: in.State, Class: in.Class, Mime: in.Mime, Site: in.Site, Node: in.Node, Find: in.Find, Limit: in.Limit, Skip: in.Skip}
		walk := heavy[PageList]
		if in.Limit > maxListKept || in.Skip > 0 || in.Find+in.Site+in.Node+in.Mime != "" {
			walk = sought[PageList]
		}
		return walk(ctx, a, a.about(ctx, in.ID, "pages", q), func(ctx context.Context) (PageList, error) { return a.findPages(ctx, in.ID, q) })
	})
	register(h, get("page", "/jobs/{id}/page", "A page, with the heads and the text that are archived of it"), a.page)
}

// maxListKept is how many pages a list has at most that is kept among those that pages show.
const maxListKept = 100

// findPages returns a part of the pages of a job.
func (a *api) findPages(ctx context.Context, job uint32, q ledger.PageQuery) (PageList, error) {
	v, limit := PageList{Pages: []PageRow{}}, q.Limit
	q.Limit++
	err := a.s.Ledger().FindPages(ctx, job, q, func(p *ledger.Page) error {
		row := *p
		v.Pages = append(v.Pages, rowOf(&row))
		return nil
	})
	if v.More = len(v.Pages) > limit; v.More {
		v.Pages = v.Pages[:limit]
	}
	return v, err
}

func rowOf(p *ledger.Page) PageRow {
	return PageRow{hex.EncodeToString(crawl.Page{Layer: p.Layer, Key: p.Key}.Bytes()), p}
}

// PageKey names a page of a job.
type PageKey struct {
	JobPath
	Key string `query:"key" required:"true" maxLength:"64" doc:"as the list of pages has it"`
}

var errNoPage = errors.New("no such page")

// findPage returns the page of a key.
func (a *api) findPage(ctx context.Context, in *PageKey) (*ledger.Page, error) {
	b, err := hex.DecodeString(in.Key)
	at, ok := crawl.PageOf(b)
	if err != nil || !ok {
		return nil, huma.Error422UnprocessableEntity(fmt.Sprintf("key %q is not the key of a page", in.Key))
	}
	p, err := a.s.Ledger().Page(ctx, in.ID, at)
	if err != nil {
		return nil, problem(err)
	}
	if p == nil {
		return nil, huma.Error404NotFound(errNoPage.Error())
	}
	return p, nil
}

const (
	maxShown     = 128 << 10 // bytes of a text
	maxBodyShown = 8 << 20   // of a body that is read for it
)

func (a *api) page(ctx context.Context, in *PageKey) (*out[PageView], error) {
	p, err := a.findPage(ctx, in)
	if err != nil {
		return nil, err
	}
	v := PageView{PageRow: rowOf(p)}
	if !p.Captured() {
		return &out[PageView]{v}, nil
	}
	v.Replay = copyOf(a.tickets.make(in.ID, p.Layer, time.Now().Add(ticketLives)), p.URL)
	on := shelf.New(a.s.Dir(), a.s.Ledger())
	c, err := on.Read(ctx, in.ID, p, maxBodyShown)
	if err != nil {
		v.Trouble, v.Later = err.Error(), errors.Is(err, shelf.ErrLater)
	}
	if c != nil {
		v.Request, v.Response = c.Request, c.Response
		v.Text, v.Cut = on.Text(ctx, p, c, maxShown)
	}
	return &out[PageView]{v}, nil
}
