package lint

import (
	"context"
	"fmt"
	"os"

	"github.com/vpnlint/vpnlint/pkg/check"
	"github.com/vpnlint/vpnlint/pkg/cidrplan"
	"github.com/vpnlint/vpnlint/pkg/facts"
	"github.com/vpnlint/vpnlint/pkg/loader"
)

// readUserRules compiles the rules in directories of the user's. Links that lead
// out of a directory are not followed.
func readUserRules(ctx context.Context, dirs []string) ([]*check.UserRules, error) {
	var all []*check.UserRules
	from := map[string]string{}
	for _, dir := range dirs {
		u, err := readUserDir(ctx, dir)
		if err != nil {
			return nil, fmt.Errorf("--rules: %w", err)
		}
		for _, m := range u.Rules() {
			if other, twice := from[m.ID]; twice {
				return nil, fmt.Errorf("--rules: %s is in %s and in %s", m.ID, other, dir)
			}
			from[m.ID] = dir
		}
		all = append(all, u)
	}
	return all, nil
}

func readUserDir(ctx context.Context, dir string) (*check.UserRules, error) {
	root, err := os.OpenRoot(dir)
	if err != nil {
		return nil, err
	}
	defer func() { _ = root.Close() }() // only read from
	return check.NewUserRules(ctx, root.FS(), dir)
}

// Input returns what the rules see of the paths, as JSON: what somebody who
// writes a rule looks at first, and what its tests take. Charts are shown with
// their default values.
func (l *Linter) Input(ctx context.Context, paths []string, opts Options) ([]byte, error) {
	loaded, err := loader.Load(ctx, paths, opts.Load)
	if err != nil {
		return nil, err
	}
	objects := loaded.Groups[0].Objects
	known, err := l.read(ctx, objects, facts.Options{Workloads: opts.Workloads})
	if err != nil {
		return nil, err
	}
	return check.InputJSON(check.Input{Facts: known, Plan: cidrplan.Compute(known.Claims), Objects: objects})
}
