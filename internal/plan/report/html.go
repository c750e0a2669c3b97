package report

import (
	"bytes"
	_ "embed"
	"encoding/base64"
	"fmt"
	"html"
	"io"
	"strings"
)

//go:embed style.css
var style string

// HTML writes the report as one page.
func (r Report) HTML(w io.Writer) error {
	var b bytes.Buffer
	fmt.Fprintf(&b, "<!doctype html>\n<html lang=\"en\">\n<head>\n<meta charset=\"utf-8\">\n<meta name=\"viewport\" content=\"width=device-width, initial-scale=1\">\n<meta name=\"color-scheme\" content=\"light dark\">\n<title>%s</title>\n<style>\n%s</style>\n</head>\n<body>\n<header>\n<h1>%s</h1>\n",
		html.EscapeString(r.Title), style, html.EscapeString(r.Title))
	for _, p := range paragraphs(r.About) {
		fmt.Fprintf(&b, "<p class=\"lead\">%s</p>\n", html.EscapeString(p))
	}
	if len(r.Facts) > 0 {
		b.WriteString("<ul class=\"facts\">\n")
		for _, f := range r.Facts {
			fmt.Fprintf(&b, "<li>%s</li>\n", html.EscapeString(f))
		}
		b.WriteString("</ul>\n")
	}
	if len(r.Sections) > 1 {
		b.WriteString("<nav>\n<ol>\n")
		for k, s := range r.Sections {
			fmt.Fprintf(&b, "<li><a href=\"#s%d\">%s</a></li>\n", k+1, html.EscapeString(s.Title))
		}
		b.WriteString("</ol>\n</nav>\n")
	}
	b.WriteString("</header>\n<main>\n")
	n := &numbering{}
	for k, s := range r.Sections {
		if err := s.html(&b, k+1, n); err != nil {
			return err
		}
	}
	b.WriteString("</main>\n</body>\n</html>\n")
	_, err := w.Write(b.Bytes())
	return err
}

// numbering counts figures and tables through the whole report.
type numbering struct{ figures, tables int }

func paragraphs(s string) (out []string) {
	for _, p := range strings.Split(strings.TrimSpace(s), "\n\n") {
		if p = strings.Join(strings.Fields(p), " "); p != "" {
			out = append(out, p)
		}
	}
	return out
}

func (s Section) html(b *bytes.Buffer, k int, n *numbering) error {
	fmt.Fprintf(b, "<section id=\"s%d\">\n<h2>%s</h2>\n", k, html.EscapeString(s.Title))
	for _, p := range paragraphs(s.About) {
		fmt.Fprintf(b, "<p>%s</p>\n", html.EscapeString(p))
	}
	for _, f := range s.Figures {
		n.figures++
		if err := f.html(b, n.figures); err != nil {
			return err
		}
	}
	for _, t := range s.Tables {
		n.tables++
		t.html(b, n.tables)
	}
	if len(s.Notes) > 0 {
		b.WriteString("<ul class=\"notes\">\n")
		for _, x := range s.Notes {
			fmt.Fprintf(b, "<li>%s</li>\n", html.EscapeString(x))
		}
		b.WriteString("</ul>\n")
	}
	b.WriteString("</section>\n")
	return nil
}

// Widths that figures are drawn at: for a page, and for a phone.
const (
	wide   = 760
	narrow = 350
)

func (f Figure) html(b *bytes.Buffer, k int) error {
	var data bytes.Buffer
	if err := f.CSV(&data); err != nil {
		return err
	}
	fmt.Fprintf(b, "<figure id=\"f%d\">\n<div class=\"wide\">%s</div>\n<div class=\"narrow\">%s</div>\n", k, f.SVG(wide), f.SVG(narrow))
	fmt.Fprintf(b, "<figcaption><b>Figure %d.</b> %s <a class=\"data\" download=\"figure%d.csv\" href=\"data:text/csv;charset=utf-8;base64,%s\">CSV</a></figcaption>\n",
		k, html.EscapeString(f.Caption), k, base64.StdEncoding.EncodeToString(data.Bytes()))
	rows := strings.Split(strings.TrimSpace(data.String()), "\n")
	if len(rows) <= maxShown {
		fmt.Fprintf(b, "<details><summary>data</summary><div class=\"scroll\" tabindex=\"0\" role=\"region\" aria-label=\"data of figure %d\"><pre>%s</pre></div></details>\n", k, html.EscapeString(strings.TrimSpace(data.String())))
	}
	b.WriteString("</figure>\n")
	return nil
}

// maxShown is up to how many lines of data stand in the page beside their link.
const maxShown = 400

func (t Table) html(b *bytes.Buffer, k int) {
	fmt.Fprintf(b, "<div class=\"table\" id=\"t%d\">\n<p class=\"caption\"><b>Table %d.</b> %s</p>\n<div class=\"scroll\" tabindex=\"0\" role=\"region\" aria-label=\"table %d\"><table>\n<thead><tr>", k, k, html.EscapeString(t.Caption), k)
	for k, h := range t.Head {
		class := ""
		if t.numeric(k) {
			class = " class=\"n\""
		}
		fmt.Fprintf(b, "<th%s>%s</th>", class, html.EscapeString(h))
	}
	b.WriteString("</tr></thead>\n<tbody>\n")
	for _, r := range t.Rows {
		b.WriteString("<tr>")
		for _, x := range r {
			class := ""
			if numeric(x) {
				class = " class=\"n\""
			}
			fmt.Fprintf(b, "<td%s>%s</td>", class, cell(x))
		}
		b.WriteString("</tr>\n")
	}
	b.WriteString("</tbody></table></div>\n</div>\n")
}

// cell is the text of a cell, which may be broken behind each option of a strategy.
func cell(x string) string { return strings.ReplaceAll(html.EscapeString(x), ",", ",<wbr>") }

// numeric reports whether most cells of a column that hold anything hold figures.
func (t Table) numeric(k int) bool {
	figures, others := 0, 0
	for _, r := range t.Rows {
		switch {
		case k >= len(r) || r[k] == "" || r[k] == "–":
		case numeric(r[k]):
			figures++
		default:
			others++
		}
	}
	return figures > others
}

// numeric reports whether a cell holds a figure, which is set to the right.
func numeric(s string) bool {
	if s == "" {
		return false
	}
	letters := 0
	for _, c := range s {
		if c >= 'a' && c <= 'z' || c >= 'A' && c <= 'Z' {
			letters++
		}
	}
	return letters == 0 && strings.ContainsAny(s, "0123456789")
}
