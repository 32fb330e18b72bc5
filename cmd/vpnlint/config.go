package main

import (
	"errors"

	"github.com/spf13/pflag"

	"github.com/vpnlint/vpnlint/pkg/config"
	"github.com/vpnlint/vpnlint/pkg/loader"
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
