package facts

import "github.com/vpnlint/vpnlint/pkg/shell"

// resolverCommand reads what a script does to /etc/resolv.conf, which all
// containers of a pod share (FG D6.4). What the tunnel's own container or hook
// writes for certain is the tunnel's resolver. What others write, or a script
// next to an image that writes the file itself, leaves open who is last.
func (r *tunnelReader) resolverCommand(c command, own bool) {
	if c.opaque || c.cmd == nil || c.cmd.OtherNetNS {
		return
	}
	w, is := shell.WritesResolver(c.cmd)
	res := &r.t.Resolver
	reached, _ := c.reached()
	switch {
	case !is, reached == Absent, w.Append && !r.resolverScripted:
		// The resolvers that stood there are asked first.
		return
	case own && w.Known && reached == Present && r.resolverScripted && res.Rewrites == Present:
		if !w.Append {
			res.Servers = nil
		}
		for _, s := range w.Servers {
			res.Servers = appendNew(res.Servers, s)
		}
	case own && w.Known && reached == Present && res.Rewrites != Present && !r.resolverScripted:
		res.Rewrites, res.Split, res.ReachesCluster = Present, Absent, ""
		res.Servers, res.Ref, res.Why = w.Servers, c.ref(), c.says()
		r.resolverScripted = true
	default:
		if res.Rewrites != Unknown {
			res.Rewrites, res.Ref, res.Why = Unknown, c.ref(), c.says()
			r.missed(because(c.says()+" writes /etc/resolv.conf, and who writes it last is not known", noAdvice), c.ref(), aspectResolver)
		}
		r.resolverScripted = true
	}
}
