package crawl

// Topic is what pages are to be about: a weighted sum over words, cut so that the score of a page at the cut is the threshold.
// Package topic makes it from words, from a text or from example pages, and scores by it.
type Topic struct {
	About     string      `cbor:"1,keyasint" json:"about" yaml:"about" doc:"what the topic is called"`                                                  // as a person said it
	Language  string      `cbor:"2,keyasint,omitempty" json:"language,omitempty" yaml:"language" doc:"by whose stemmer words are compared (ISO 639-1)"` // by whose stemmer words are compared (ISO 639-1)
	Terms     []TopicTerm `cbor:"3,keyasint" json:"terms" yaml:"terms" doc:"words, and what a page gains by them"`
	Cut       float64     `cbor:"4,keyasint" json:"cut" yaml:"cut" doc:"sum of a page that just is on the topic"`             // sum of a page that just is on the topic
	Gain      float64     `cbor:"5,keyasint" json:"gain" yaml:"gain" doc:"how much a unit of the sum means"`                  // how much a unit of the sum means, in units of the logistic curve
	Threshold float64     `cbor:"6,keyasint" json:"threshold" yaml:"threshold" doc:"score from which a page is on the topic"` // score from which a page is on the topic
}

// TopicTerm is a word of a topic, or two that follow each other, and what a page gains by it. Words are stems.
type TopicTerm struct {
	Word   string  `cbor:"1,keyasint" json:"word" yaml:"word" doc:"a stem"`
	Next   string  `cbor:"2,keyasint,omitempty" json:"next,omitempty" yaml:"next" doc:"the stem that follows it, of a pair"`
	Weight float64 `cbor:"3,keyasint" json:"weight" yaml:"weight" doc:"what a page gains by it"`
}

// DefaultThreshold is the score from which a page is on a topic, as published.
const DefaultThreshold = 0.2

// String says what the topic is about.
func (t *Topic) String() string {
	if t == nil {
		return "none"
	}
	return t.About
}

// Bounds of a topic: it travels with every lease.
const (
	MaxTopicTerms = 500
	maxAbout      = 400

	// MaxTunnel bounds how many pages in a row are counted that are off the topic.
	MaxTunnel = 100
)

// Check returns why something is not a topic; nil: it is one.
func (t *Topic) Check() error {
	c := check{at: -1}
	if c.topic(t); c.fault != nil {
		return c.fault
	}
	return nil
}

// topic refuses what is not a topic.
func (c *check) topic(t *Topic) {
	c.length("topic", t.About, 1, maxAbout)
	c.word("topic: language", t.Language, 0)
	if len(t.Terms) == 0 {
		c.fail("topic: terms", RuleCount)
	}
	c.items("topic: terms", len(t.Terms), MaxTopicTerms)
	for i := range t.Terms {
		c.length("topic: terms", t.Terms[i].Word, 1, maxWord)
		c.length("topic: terms", t.Terms[i].Next, 0, maxWord)
		c.between("topic: weights", t.Terms[i].Weight, -maxWeight, maxWeight)
	}
	c.between("topic: cut", t.Cut, -maxWeight*MaxTopicTerms, maxWeight*MaxTopicTerms)
	c.between("topic: gain", t.Gain, 1e-6, 1e6)
	c.between("topic: threshold", t.Threshold, 0.001, 0.999)
}

// maxWeight bounds the weight of a word.
const maxWeight = 1000
