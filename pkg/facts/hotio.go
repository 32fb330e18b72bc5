package facts

import (
	"strings"
)

// withoutVPN takes the family from an image whose VPN is not on: these images are
// applications, and most of them run as such. A value that cannot be seen proves
// no tunnel.
func (c *containerView) withoutVPN() {
	if c.image.Family == nil || c.image.Family.ID != "hotio" {
		return
	}
	if v := c.env("VPN_ENABLED"); v.State != Present || strings.TrimSpace(v.Text) != "true" {
		c.image.Family = nil
	}
}

// hotio: the configuration lies in a volume or comes from the provider.
func (r *tunnelReader) hotio() {
	r.unknownRoutes(because("the image takes its WireGuard configuration from its volume or its provider", noAdvice), r.t.ContainerRef)
}
