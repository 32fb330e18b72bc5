package main

import (
	"context"
	"fmt"
	"os"

	"github.com/vpnlint/vpnlint/pkg/loader"
	"github.com/vpnlint/vpnlint/pkg/source"
)

func main() {
	dir, _ := os.Getwd()
	r, err := loader.Load(context.Background(), os.Args[1:], loader.Options{Dir: dir, Stdin: os.Stdin})
	if err != nil {
		fmt.Println("ERR", err)
		return
	}
	for _, i := range r.Inputs {
		fmt.Println("IN", i)
	}
	for _, o := range r.Objects {
		fmt.Println("OBJ", o.ID, o.Unit, o.Input, o.Namespace)
		if os.Getenv("P") != "" {
			p := o.Origin.Locate(source.Ref{Pointer: os.Getenv("P")})
			fmt.Printf("   %+v via %+v\n", p.Primary, p.Via)
		}
	}
	for _, g := range r.Gaps {
		fmt.Printf("GAP %s %s:%d %s: %s; %s\n", g.Kind, g.File, g.Line, g.What, g.Why, g.Consequence)
	}
	for _, s := range r.Skipped {
		fmt.Println("SKIP", s)
	}
}
