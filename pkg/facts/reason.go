package facts

import "strings"

// reason says why something could not be seen and what its reader can do about
// it. It is made where the cause is known, with its advice; nothing reads its
// words. The zero reason: nothing hides.
type reason struct {
	text string
	do   advice
	// outside: what is missing is in none of the inputs, so that it is one gap
	// however many places of an object name it.
	outside bool
}

// advice is what to do about a cause, as an imperative.
type advice string

// The advices that several causes share.
const (
	// noAdvice: nothing that is written down would settle it.
	noAdvice advice = ""

	correctLine     advice = "correct that line"
	correctIt       advice = "correct it"
	writeInManifest advice = "write what it does into the manifest"
	writeTag        advice = "write a tag that tells it"
	quoteIt         advice = "quote it"
	writeOpenly     advice = "write it so that it is reached in any case, if it is"
	writeSetting    advice = "write out what it sets"
	// What stands elsewhere is linted together with the rest.
	lintWithSecret    advice = "lint it together with that Secret, which needs no keys in it"
	lintWithConfigMap advice = "lint it together with that ConfigMap"
	lintFileInstead   advice = "lint a ConfigMap with the same file in its place"
	lintApplied       advice = "lint what is applied, with the value filled in"
	lintWithNetwork   advice = "lint it together with that NetworkAttachmentDefinition"
	lintWithVPNConfig advice = "lint it together with the ConfigMap or Secret that holds it; keys may be left out"
	lintWithValues    advice = "lint it together with these values"
	writeRangeInPlan  advice = "write the range into the plan"
)

// because makes a reason. Whoever adds one says what can be done about it, or
// noAdvice.
func because(text string, do advice) reason { return reason{text: text, do: do} }

// notInTree is the reason of an object, or a volume's content, that is in none of
// the inputs.
func notInTree(what string, do advice) reason {
	return reason{text: what + " is not in the tree", do: do, outside: true}
}

// unseen is the reason of what may be set where nothing of it is seen.
func unseen() reason { return because(unseenWhy, "lint it together with them") }

// filledIn is the reason of a text that holds a placeholder.
func filledIn(what string) reason {
	return because(what+" is filled in when the tree is applied", lintApplied)
}

// filledInLater is filledIn where who fills it in is not known.
func filledInLater(what string) reason { return because(what+" is filled in later", lintApplied) }

// runsUnseen is the reason of an image of which nothing is known.
func runsUnseen(image string) reason {
	return notInTree("what image "+image+" runs", writeInManifest)
}

// holds tells whether there is a reason at all.
func (r reason) holds() bool { return r.text != "" }

// of is the same reason for something that depends on what it is about:
// "TS_ROUTES: Secret vpn/keys is not in the tree".
func (r reason) of(what string) reason {
	r.text = what + r.text
	return r
}

// said is what a gap says: the reason and the advice.
func (r reason) said() string {
	if r.do == noAdvice {
		return r.text
	}
	return r.text + "; " + string(r.do)
}

// allOf is the reason for what hangs on several. Of more than one it gives no
// advice, for which of them would help is not known.
func allOf(reasons []reason) reason {
	if len(reasons) == 1 {
		return reasons[0]
	}
	var all reason
	texts := make([]string, len(reasons))
	for i, r := range reasons {
		texts[i] = r.text
		all.outside = all.outside || r.outside
	}
	all.text = strings.Join(texts, "; ")
	return all
}
