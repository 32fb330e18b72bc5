package loader

import (
	"strconv"
	"strings"

	"go.yaml.in/yaml/v3"
	"sigs.k8s.io/kustomize/api/builtins" //nolint:staticcheck // the parts that the library builds with
	"sigs.k8s.io/kustomize/api/resmap"
	"sigs.k8s.io/kustomize/api/types"
)

// images changes images as n says.
func (r *replay) images(m resmap.ResMap, n *kustNode) error {
	for _, field := range []string{"images", "imageTags"} {
		list := n.spec.Images
		if field != "images" {
			list = n.older.imageTags
		}
		for i, img := range list {
			p := &builtins.ImageTagTransformerPlugin{ImageTag: img, FieldSpecs: fieldSpecs(imageSpecs)}
			err := r.transform(m, p, func(_ string, v *yaml.Node, old int) writer {
				return r.image(v.Value, old, img, func(key string) writer { return n.mark(field, strconv.Itoa(i), key) })
			})
			if err != nil {
				return err
			}
		}
	}
	return nil
}

// image is the mark of an image that img made of an old one.
func (r *replay) image(text string, old int, img types.Image, at func(key string) writer) writer {
	was := r.marks.list[old].text
	name, tag, digest := splitImage(was)
	var k writer
	n := 0
	put := func(part string, by, offset int, main bool) {
		if main {
			k.main = len(k.pieces)
		}
		k.pieces = append(k.pieces, fragment{n, n + len(part), by, offset})
		n += len(part)
	}
	own := func(key, value string) int { return r.textMark(at(key), value) }
	switch {
	case img.NewName != "":
		put(img.NewName, own("newName", img.NewName), 0, true)
	default:
		put(name, old, 0, false)
	}
	separator := func() { n++ }
	switch {
	case img.NewTag != "":
		separator()
		put(img.NewTag, own("newTag", img.NewTag), 0, true)
	case img.Digest != "":
	case tag != "":
		separator()
		put(tag, old, len(name)+1, false)
		if img.TagSuffix != "" {
			put(img.TagSuffix, own("tagSuffix", img.TagSuffix), 0, true)
		}
	case img.TagSuffix != "":
		separator()
		put(img.TagSuffix, own("tagSuffix", img.TagSuffix), 0, true)
	}
	switch {
	case img.Digest != "":
		separator()
		put(img.Digest, own("digest", img.Digest), 0, true)
	case digest != "" && img.NewTag == "" && img.TagSuffix == "":
		separator()
		put(digest, old, len(was)-len(digest), false)
	}
	if n+len(img.TagSuffix) == len(text) && img.TagSuffix != "" {
		put(img.TagSuffix, own("tagSuffix", img.TagSuffix), 0, true) // the library adds it twice
	}
	if n != len(text) {
		k.vague = true
	}
	return k.overrides(old)
}

// splitImage splits an image as kustomize does.
func splitImage(image string) (name, tag, digest string) {
	name, digest, _ = strings.Cut(image, "@")
	slash := strings.LastIndexByte(name, '/')
	if i := strings.IndexByte(name[slash+1:], ':'); i >= 0 {
		name, tag = name[:slash+1+i], name[slash+2+i:]
	}
	return name, tag, digest
}
