package check

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"maps"
	"slices"

	"github.com/vpnlint/vpnlint/pkg/finding"
)

// The index of the built-in rules is what a run needs of all of them: their
// METADATA and what they need of the input. It is generated, so that a run parses
// and compiles only the rules that can say something, and checks no types: an
// index is written only for rules that compile against the schema. It counts only
// for the very texts that it was made of; for any others the rules are read and
// checked one by one.

const indexName = "index.json"

type ruleIndex struct {
	// Digest is of the rules and the schema of their input.
	Digest string        `json:"digest"`
	Rules  []indexedRule `json:"rules"`
}

type indexedRule struct {
	Key      string           `json:"key"` // the last part of the package: vpn101
	File     string           `json:"file"`
	Meta     finding.RuleMeta `json:"meta"`
	Once     bool             `json:"once,omitempty"`
	Replaces []string         `json:"replaces"`
	Needs    []string         `json:"needs"`
}

// Index returns the index of the rules in files, as it is kept in
// rules/index.json. It fails when a rule is wrong.
func Index(ctx context.Context, files fs.FS) ([]byte, error) {
	texts, err := readRules(files)
	if err != nil {
		return nil, err
	}
	e, err := compileAll(ctx, files, texts)
	if err != nil {
		return nil, err
	}
	out := ruleIndex{Digest: texts.digest()}
	for _, key := range sortedKeys(e.byKey) {
		r := e.byKey[key]
		out.Rules = append(out.Rules, indexedRule{Key: key, File: r.file, Meta: r.meta, Once: r.meta.Once, Replaces: r.replaces, Needs: r.needsText})
	}
	text, err := json.MarshalIndent(out, "", " ")
	if err != nil {
		return nil, fmt.Errorf("index of the rules: %w", err)
	}
	return append(text, '\n'), nil
}

// readIndex returns the engine that the index describes, nil when there is none
// for these texts.
func readIndex(files fs.FS, texts ruleTexts) (*Engine, error) {
	text, err := fs.ReadFile(files, indexName)
	if errors.Is(err, fs.ErrNotExist) {
		return nil, nil //nolint:nilnil // no index and no error is what a caller must tell apart
	}
	var digest struct {
		Digest string `json:"digest"`
	}
	if err == nil {
		err = json.Unmarshal(text, &digest)
	}
	if err != nil {
		return nil, fmt.Errorf("index of the rules: %w", err)
	}
	if digest.Digest != texts.digest() {
		return nil, nil //nolint:nilnil // as above
	}
	var index ruleIndex
	if err := json.Unmarshal(text, &index); err != nil {
		return nil, fmt.Errorf("index of the rules: %w", err)
	}
	e := &Engine{texts: texts, byKey: map[string]rule{}, compiled: map[string]bool{}}
	for _, r := range index.Rules {
		needs, err := parseNeeds(r.Needs)
		if err != nil {
			return nil, fmt.Errorf("index of the rules: %w", err)
		}
		r.Meta.Once = r.Once
		e.byKey[r.Key] = rule{meta: r.Meta, replaces: r.Replaces, file: r.File, needs: needs, needsText: r.Needs}
		e.metadata = append(e.metadata, r.Meta)
	}
	return e, nil
}

// ruleTexts are the texts of the Rego files but the tests, and of the schema, by
// path.
type ruleTexts map[string]string

func (t ruleTexts) digest() string {
	sum := sha256.New()
	for _, name := range slices.Sorted(maps.Keys(t)) {
		fmt.Fprintf(sum, "%d:%s%d:%s", len(name), name, len(t[name]), t[name])
	}
	return hex.EncodeToString(sum.Sum(nil))
}
