package topic

import (
	"slices"
	"strings"
	"unicode"

	"github.com/kljensen/snowball/english"
	"github.com/kljensen/snowball/french"
	"github.com/kljensen/snowball/hungarian"
	"github.com/kljensen/snowball/norwegian"
	"github.com/kljensen/snowball/russian"
	"github.com/kljensen/snowball/spanish"
	"github.com/kljensen/snowball/swedish"
)

// stemmers cut the endings off words, by language (ISO 639-1). Words of other languages are compared as they stand.
var stemmers = map[string]func(string) string{
	"en": func(w string) string { return english.Stem(w, true) },
	"es": func(w string) string { return spanish.Stem(w, true) },
	"fr": func(w string) string { return french.Stem(w, true) },
	"hu": func(w string) string { return hungarian.Stem(w, true) },
	"no": func(w string) string { return norwegian.Stem(w, true) },
	"ru": func(w string) string { return russian.Stem(w, true) },
	"sv": func(w string) string { return swedish.Stem(w, true) },
}

// stem returns what words of one meaning have in common, as far as the language's stemmer knows.
func stem(word, language string) (stemmed string) {
	defer func() {
		if recover() != nil { // a word from outside must not end the process, whatever the library makes of it
			stemmed = word
		}
	}()
	if f := stemmers[language]; f != nil && len(word) > 2 {
		if s := f(word); s != "" {
			return s
		}
	}
	return word
}

// AsTheyStand is the language of words that are compared as they stand.
const AsTheyStand = "none"

// Languages are those whose words are stemmed, those of which at least the words are known that say nothing, and those that are read by pairs
// of characters.
func Languages() (stemmed, known, paired []string) {
	for _, l := range languages {
		known = append(known, l.code)
		if stemmers[l.code] != nil {
			stemmed = append(stemmed, l.code)
		}
	}
	for _, u := range unspaced {
		if !slices.Contains(paired, u.language) {
			paired = append(paired, u.language)
		}
	}
	return stemmed, known, paired
}

// language is a language's most frequent words, which say nothing of what a text is about.
type language struct{ code, words string }

// languages stand in the order in which they are guessed: of two that fit a text equally the first.
var languages = []language{
	{"en", `a about after all also an and any are as at be because been before being between both but by can could did do does doing down during each
few for from further had has have having he her here hers him his how i if in into is it its just like may me might more most must my no nor
not now of off on once one only or other our ours out over own same she should so some such than that the their them then there these they this
those through to too under until up use used using very was we were what when where which while who whom why will with would you your yours`},
	{"de", `aber alle als also am an auch auf aus bei bin bis das dass dem den der des die dies diese dieser doch du durch ein eine einem einen einer
eines er es für hat haben hier ich ihr im in ist ja kann kein keine man mehr mit nach nicht noch nur ob oder ohne sehr sein seine sich sie sind so
über um und uns unter vom von vor war was weil wenn wer werden wie wir wird zu zum zur`},
	{"fr", `à au aux avec ce ces cette comme dans de des du elle elles en est et été être eux il ils je la le les leur lui ma mais me même mes moi mon
ne nos notre nous on ou où par pas plus pour qu que qui sa sans se ses si son sont sous sur ta te tes toi ton tu un une vos votre vous`},
	{"es", `a al algo ante antes como con contra cual cuando de del desde donde dos el ella ellas ellos en entre era es esa ese eso esta este esto ha
hasta hay la las le les lo los más me mi mientras muy nada ni no nos o os otra otro para pero poco por porque que quien se según ser si sin sobre
son su sus también te tiene todo tu un una uno y ya yo`},
	{"it", `a ad al alla anche che chi ci come con cosa cui da dal dalla degli dei del della delle di e ed è era gli ha hanno ho i il in io la le lei
lo loro lui ma mi mio ne nei nel nella non o per perché più quale quando quella quello questa questo se sei si sia siamo sono su sua sul suo ti tra
tu un una uno vi voi`},
	{"pt", `a ao aos as até com como da das de dela dele do dos e é ela elas ele eles em entre era essa esse esta este eu foi há isso já lhe mais mas
me mesmo meu minha muito na não nas nem no nos nossa nosso num numa o os ou para pela pelo por qual quando que quem se sem ser seu sua são só também
te tem um uma você`},
	{"nl", `aan al alles als altijd andere ben bij daar dan dat de der deze die dit doch doen door dus een en er ge geen haar had heb heeft hem het hij
hoe hun ik in is ja je kan kon maar me meer men met mij mijn moet na naar niet nog nu of om omdat ons ook op over te tegen toch tot u uit uw van veel
voor want waren was wat we wel werd wie wij wil zal ze zich zij zijn zo zonder`},
	{"sv", `alla att av blev bli blir då de dem den deras dess det detta dig din du där efter ej eller en er ett från för ha hade han har hennes här hon
hur i icke ingen inom inte jag ju kan kunde man med mellan men mig min mot mycket ni nu när någon något några och om oss på samma sedan sig sin sina
som så till under upp ut utan vad var vara vi vid vilka`},
	{"no", `alle at av både bare begge ble blei bli blir da de deg dei dem den denne der dere det dette di din disse du eller en enn er et ett etter for
fordi fra før ha hadde han har henne her hun hva hvem hver hvilke hvis hvor hvordan i ikke ingen ja jeg kan kun kunne man mange med meg mellom men min
mot må når og også om opp oss over på så seg selv sin skal som til ut uten vi være`},
	{"hu", `a ahogy ahol aki akik akkor alatt amely ami amikor az azért azok azt be csak de e ebben egy egyéb egyes egyik együtt el ellen előtt én és
ez ezek ezt fel ha hanem hogy hogyan is itt jó ki kell le lehet lesz lett meg még mert mi mint minden most nagyon ne nem nincs ő ők ott össze pedig
saját sem semmi számára szerint szét több újra úgy után vagy van volt`},
	{"ru", `а без более бы был была были было быть в вам вас весь во вот все всего всех вы где да даже для до его ее если есть еще же за здесь и из или
им их к как ко когда кто ли либо мне может мы на надо наш не него нее нет ни них но ну о об однако он она они оно от очень по под при с со так также
такой там те тем то того тоже той только том ты у уже хотя чего чей чем что чтобы чье эта эти это я`},
}

// web are words that stand on pages whatever they are about.
const web = `about back click comment contact contents copyright email home html http https index information info last link links mail main menu
navigation new next online page pages previous privacy read reserved rights search see site terms top updated version web website welcome www`

var stops = func() map[string]map[string]bool {
	all := map[string]map[string]bool{}
	for _, l := range languages {
		all[l.code] = map[string]bool{}
		for _, w := range strings.Fields(l.words) {
			all[l.code][w] = true
		}
	}
	return all
}()

var webWords = func() map[string]bool {
	m := map[string]bool{}
	for _, w := range strings.Fields(web) {
		m[w] = true
	}
	return m
}()

// guess returns the language of words: the one whose frequent words are most of them. Without such words, as in a few key words, their
// letters say it.
func guess(words []string) string {
	best, most := "", 0
	for _, l := range languages {
		n := 0
		for _, w := range words {
			if stops[l.code][w] {
				n++
			}
		}
		if n > most {
			best, most = l.code, n
		}
	}
	if best == "" {
		best = byLetters(strings.Join(words, ""))
	}
	return best
}

// byLetters returns the language that letters speak for: Russian is its script's, then come those whose words are not set apart, unless there
// are Latin letters, too: those speak for English. Of other letters nothing is known.
func byLetters(letters string) string {
	has := func(script *unicode.RangeTable) bool {
		return strings.IndexFunc(letters, func(r rune) bool { return unicode.Is(script, r) }) >= 0
	}
	switch {
	case has(unicode.Cyrillic):
		return "ru"
	case has(unicode.Latin):
		return "en"
	}
	for _, u := range unspaced {
		if has(u.script) {
			return u.language
		}
	}
	return AsTheyStand
}
