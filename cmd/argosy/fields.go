package main

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"slices"
	"strconv"
	"strings"

	"argosy/internal/config"
	"argosy/internal/crawl"
	"argosy/internal/fleet/assemble"
	"argosy/internal/fleet/frontier"
	"argosy/internal/fleet/ledger"
	"argosy/internal/fleet/shelf"
	"argosy/internal/page/engine"
)

// fieldsOf returns the fields of a job: those of a job file, or those that it was begun with.
func fieldsOf(file string, of *crawl.Collect) (*engine.Fields, error) {
	if file == "" {
		if of == nil || len(of.Fields) == 0 {
			return nil, usage("--fields: the job has none (virtual: fields: in its file); --fields-of JOB.yaml takes those of a file")
		}
		return engine.DecodeFields(of.Fields)
	}
	b, err := readBounded(file)
	if err != nil {
		return nil, usage("--fields-of: %w", err)
	}
	j, err := config.ReadJob(bytes.NewReader(b))
	if err != nil {
		return nil, usage("%s: %w", file, err)
	}
	if j.Virtual == nil || len(j.Virtual.Fields) == 0 {
		return nil, usage("%s: it has no fields (virtual: fields:)", file)
	}
	fs, err := engine.NewFields(j.Virtual.Fields)
	var bad *engine.Error
	if errors.As(err, &bad) {
		return nil, usage("%s: line %d: virtual.fields%s: %v", file, config.LineOf(b, "$.virtual", "fields"+bad.Key), bad.Key, bad.Err)
	}
	return fs, err
}

// fieldRow is a page with its fields.
type fieldRow struct {
	url, product, site string
	values             [][]string
}

// exportFields prints what a job's fields find in the pages that its searches have named: of each that was collected a row, without fields
// where it is not HTML or cannot be read.
func exportFields(ctx context.Context, w io.Writer, l *ledger.Ledger, dir string, job uint32, file, format string) error {
	return assemble.View(ctx, atRest(dir), func(f *frontier.Frontier, _ bool) error {
		j := f.Job(job)
		if j == nil || j.Identity.Collect == nil {
			return usage("--fields: job %d is not there, or has no virtual task", job)
		}
		fs, err := fieldsOf(file, j.Identity.Collect)
		if err != nil {
			return err
		}
		out := newFieldWriter(w, format, fs)
		pages := shelf.New(dir, l)
		unread, why := int64(0), ""
		err = l.Pages(ctx, job, func(p *ledger.Page) error {
			if p.Owner > 0 || p.State != crawl.Fetched.String() || p.Status >= 300 {
				return nil
			}
			row := fieldRow{url: p.URL}
			err := f.NamedBy(job, p.Key, func(s *frontier.Search) {
				row.product, row.site = join(row.product, s.Product), join(row.site, s.Site)
			})
			if err != nil || row.product == "" { // no search names it any more
				return err
			}
			var odd []string
			if p.HTML {
				kept, err := pages.Read(ctx, job, p, engine.MaxAnswer)
				if err == nil {
					row.values, odd, err = fs.Of(kept.Body, kept.Type)
				}
				if err != nil {
					unread, why = unread+1, fmt.Sprintf("%s: %v", p.URL, err)
				}
			}
			if row.values == nil {
				row.values = make([][]string, len(fs.Names))
			}
			out.note(odd)
			return out.write(&row)
		})
		out.sayOdd(os.Stderr)
		if err = errors.Join(err, out.close()); err == nil && unread > 0 {
			have := "have"
			if unread == 1 {
				have = "has"
			}
			err = fmt.Errorf("%s could not be read and %s no fields; the last: %s", plural(unread, "page"), have, why)
		}
		return err
	})
}

// join adds a name to a list, once.
func join(list, name string) string {
	for _, has := range strings.Split(list, ", ") {
		if has == name {
			return list
		}
	}
	if list == "" {
		return name
	}
	return list + ", " + name
}

// fieldWriter prints rows with fields: JSON lines, CSV, or a table.
type fieldWriter struct {
	fields *engine.Fields
	enc    *json.Encoder
	csv    *rowWriter
	table  *columns
	odd    []int64  // by field: pages whose text there is not the number or the date that it should be
	such   []string // by field: the first of these texts
}

// note counts texts that are not what their fields should be.
func (w *fieldWriter) note(texts []string) {
	for i, text := range texts {
		if text == "" {
			continue
		}
		if w.odd[i]++; w.such[i] == "" {
			w.such[i] = text
		}
	}
}

// sayOdd says of which fields texts could not be read.
func (w *fieldWriter) sayOdd(to io.Writer) {
	for i, n := range w.odd {
		if n > 0 {
			fmt.Fprintf(to, "argosy: field %s: %s with a text that is not a %s, such as %q\n", w.fields.Names[i], plural(n, "page"), w.fields.As(i), short(w.such[i], 40))
		}
	}
}

func newFieldWriter(w io.Writer, format string, fs *engine.Fields) *fieldWriter {
	out := &fieldWriter{fields: fs, odd: make([]int64, len(fs.Names)), such: make([]string, len(fs.Names))}
	head := append([]string{"url", "product", "site"}, fs.Names...)
	switch format {
	case "table":
		out.table = newColumns(w)
		fmt.Fprintln(out.table, strings.ToUpper(strings.Join(append(slices.Clone(fs.Names), "product", "url"), "\t")))
	case "csv":
		out.csv = csvRows(w, head)
	default:
		out.enc = json.NewEncoder(w)
		out.enc.SetEscapeHTML(false)
	}
	return out
}

func (w *fieldWriter) write(r *fieldRow) error {
	flat := make([]string, len(r.values))
	for i, v := range r.values {
		flat[i] = strings.Join(v, " | ")
	}
	switch {
	case w.table != nil:
		for i := range flat {
			flat[i] = short(flat[i], 60)
		}
		_, err := fmt.Fprintln(w.table, strings.Join(unarmed(append(flat, r.product, r.url)), "\t"))
		return err
	case w.csv != nil:
		return w.csv.csv.Write(unarmed(append([]string{r.url, r.product, r.site}, flat...)))
	}
	one := map[string]any{"url": r.url, "product": r.product, "site": r.site}
	for i, v := range r.values {
		switch said := w.said(i, v); len(said) {
		case 0:
		case 1:
			one[w.fields.Names[i]] = said[0]
		default:
			one[w.fields.Names[i]] = said
		}
	}
	return w.enc.Encode(one)
}

// said is what JSON has for the values of a field: texts or numbers.
func (w *fieldWriter) said(i int, values []string) (out []any) {
	for _, v := range values {
		n, err := strconv.ParseFloat(v, 64)
		if err != nil || w.fields.As(i) != "number" {
			out = append(out, v)
			continue
		}
		out = append(out, n)
	}
	return out
}

func (w *fieldWriter) close() error {
	switch {
	case w.table != nil:
		return w.table.Flush()
	case w.csv != nil:
		return w.csv.close()
	}
	return nil
}

// short cuts a text to so many characters.
func short(s string, most int) string {
	if r := []rune(s); len(r) > most {
		return string(r[:most-1]) + "…"
	}
	return s
}
