// Package images knows the VPN images of the field: which family an image
// reference belongs to, which version its tag tells, and what the image does by
// default. The knowledge is data (images.yaml), not code.
package images
