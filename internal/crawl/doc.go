// Package crawl holds Argosy's words as types: URLs in canonical form and their keys, jobs, sites, leases,
// parts of reports, the entries of the log, verdicts and errors, and the codec that carries them between
// processes. It imports nothing of the project and does nothing on its own: no clock, no network, no disk.
//
// The glossary is in docs/glossary.md; one concept has one word, here and in every other package.
package crawl
