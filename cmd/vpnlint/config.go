package main

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"

	"github.com/spf13/pflag"

	"github.com/vpnlint/vpnlint/pkg/config"
	"github.com/vpnlint/vpnlint/pkg/loader"
	"github.com/vpnlint/vpnlint/pkg/report"
	"github.com/vpnlint/vpnlint/rules"
)

// configFlags say where the plan file is.
type configFlags struct {
	file string
	none bool
}

func (c *configFlags) register(f *pflag.FlagSet) {
	f.StringVar(&c.file, "config", "", "plan `FILE` (default: "+config.FileName+" here or above)")
	f.BoolVar(&c.none, "no-config", false, "read no plan file")
}

// load reads the plan file, nil for none.
func (c *configFlags) load(dir string, limits loader.Limits) (*config.Config, error) {
	switch {
	case c.none && c.file != "":
		return nil, errors.New("--config and --no-config contradict each other")
	case c.none:
		return nil, nil
	}
	return config.Load(config.Options{Dir: dir, File: c.file, Rules: rules.IDs(), Limits: limits})
}

// remark says which plan files among the paths are not read: the plan is that of
// the working directory, and who lints another repository from outside would
// miss its own without a word.
func (c *configFlags) remark(std streams, dir string, paths []string, plan *config.Config) {
	if c.none || c.file != "" {
		return
	}
	for _, path := range paths {
		name := filepath.Join(path, config.FileName)
		abs := name
		if !filepath.IsAbs(abs) {
			abs = filepath.Join(dir, name)
		}
		info, err := os.Stat(abs)
		if err != nil || !info.Mode().IsRegular() {
			continue
		}
		if plan != nil {
			if read, err := os.Stat(filepath.Join(dir, filepath.FromSlash(plan.File))); err == nil && os.SameFile(read, info) {
				continue
			}
		}
		fmt.Fprintln(std.err, report.Plain("vpnlint: "+filepath.ToSlash(name)+" is not read: pass --config "+filepath.ToSlash(name)+", or --no-config to go without"))
	}
}
