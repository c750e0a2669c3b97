// Package yield judges what the URLs of one site bring. It says when a kind of URLs goes on bringing nothing: a calendar without end,
// sessions in URLs, filters in every order, pages that are not there. docs/pages.md has the whole rule, and an example.
//
// # Templates and groups
//
// A template is a set of URLs of one shape. Where there are too many shapes, any words may stand beside numbers; paths without numbers are one
// then, a bag, as are those that repeat names. Templates that bring nothing are judged as one group if one names the other and does not
// stand aside of it, if they are combinations of choices, if they differ in one name of their paths, if they differ in values of
// parameters only and the last eight answers of both were known, if they are views of one calendar, if they are of paths that grow and never brought anything,
// if they run on after their ends below one first segment, if all names of their parameters bring nothing wherever they stand, or if all below one first
// segment, or all that repeat other templates word for word, have cost together what leads to a cut.
//
// # What an answer brings
//
//   - new: a quarter of a sample of its text's phrases was not there before; what a longer text's sample has not room for does not count
//   - partly new: three phrases were not
//   - known: the very text was there
//   - faint: only numbers, the page's own address or the order of what is known differ; or it is a redirect that its own template has named
//
// Of a combination of choices only what counts is new: what a filter has left of a list is on it, though the list's sample does not show it.
//
// What stands beside a page that was not marked shows that page's text, and is not counted if what stands beside marked ones is not new.
//
// Where only figures, a picture, a name or numbers that do not follow from the address (three of a date's; of a name on a day: one that neither the name nor the day has told) are new, an answer is partly new most of the time (seven
// in eight; every second one where that says less, as figures of sentences do until they have proven to stay) and faint else (a name always that an address without numbers says, and that its own kind has named), so that a chain of some thousand such pages is had and one without end ends. If pages that were asked for
// twice show that their pictures or names are drawn anew for each reader, they are faint; places in which numbers are drawn do not count for a name and a day. Little, too, is a new choice of known
// phrases, as the songs of an hour are, if one number or a date varies in the address: every second such page counts until eight of them, asked for twice,
// have said the same.
//
// Where pages of one template differ by little (eight were faint), each sentence is marked: one of seven words or more that is new is a name. A picture
// with a name is one of a thing, whatever varies in the address.
//
// # The sum of a group
//
// The evidence is a cumulative sum (Page 1954) of the answers of a group that leads to itself; a page without links of its own that a
// productive template has named is finite, however alike its siblings are.
//
//   - A known answer adds 3; one that a template outside the group has named, or that repeats another corner of the site, 1.
//   - A faint one adds 1; a combination of choices 2; a leaf of a calendar 3.
//   - What is partly new changes nothing.
//   - The end of a way adds an eighth to what has named it, if that is new by little and has named more of such than it has pages.
//   - A new one takes 64 off, less if it is new by less than half; and 4 off the group that has named it, or 16 where that one's own
//     texts are known, but no more than that one's answers have cost that named something else than their kind; a redirect to what was not
//     there counts as 16, and one to what was there adds 1. One that others have named takes off no more than such have cost: it says nothing
//     of what its own kind names.
//
// The sum never falls below zero. At the limit, 500, the group is cut: after 167 known texts or 500 that differ in numbers only, or later,
// if more than one answer in 22, or one in 65, was new in between. The limit is lower, by the greatest of these: up to 200 if the group has
// brought much before, or if it is of paths of many kinds, most of which bring nothing, for what was paid back; up to 120 if it is of many
// shapes; and what the cut groups have cost that it leads into, unless most of its own answers bring something: the days of a calendar and its
// months are one trap, but a thing is not one with the view that says of all things the same.
//
// # What is spared
//
// A group is spared while it names fewer than one new URL of its own kind for every two of its answers, and these were named by itself, by
// what brings something, or by a list that no chain without fruit leads to from itself: what they lead to comes late. So is a faint one while
// its links lead more and more often to what is there already, as those of a finite set do. A template that finds something steadily, itself or
// in other templates, is judged alone, and is not cut before four mean gaps without a find, and as many more as the logarithm of its finds.
// One answer in four of a group that was spared at its limit is marked from then on, and stands for those before it.
//
// Pairs of things are not spared, of which each is shown elsewhere: there are too many. Nor are buttons: pages whose addresses repeat that of
// what they stand beside, and which say one of a few things, 500 times in a row.
//
// # After a cut
//
// A cut group is tried again in rounds at doubling intervals, five times in all, first with what promises most. What is new lifts the cut,
// for as many answers as it pays; what others have named has only more of such tried, unless its template was cut with others and has
// brought much. Paths of many kinds below one first segment are heard at the end, view by view (/repo/tree/…, /repo/log/…): one goes on while it names hardly any of
// its kind that were not there, so has an end. Of such paths those go on that have a form which goes on bringing something
// (what differs in numbers only; in all names but the last; below any first name; in the last name, too), itself or in what its pages name, and of any the next page of a list whose last pages have named what was new. So the answers that a trap gets are bounded (about 600), and a wrong judgement mends itself.
//
// # Parts of URLs
//
// Parts that make no difference (a session, the order of a list, of parameters or of names in a path) are learned from pairs of URLs that differ in them only and gave the same
// text, or nearly the same if the part's values do not come again and again, or of a URL and the one without a parameter or a directory. Ids and tokens that are numbers are learned together, if each page draws them anew. A URL that differs from one that is there in such parts only, or has none
// of them, waits like one of a cut template. A few are tried that a productive template names, and more while these are new; fewer of what each
// page draws anew, as a session is, where others were in vain.
// A parameter of a few words is left out for those words only whose own pairs have shown that they make none.
//
// The package is pure: a Model is a function of the answers it was given. It tells its owner which of its records have changed,
// and is rebuilt from them. Memory is bounded by the constants below.
package yield
