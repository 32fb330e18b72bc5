package images

import "testing"

func load(t *testing.T) *Catalog {
	t.Helper()
	c, err := Load()
	if err != nil {
		t.Fatal(err)
	}
	return c
}

func TestLoad(t *testing.T) {
	c := load(t)
	if len(c.Families()) != 55 || len(c.LookAlikes()) != 17 {
		t.Errorf("%d families and %d look-alikes, want 55 and 17", len(c.Families()), len(c.LookAlikes()))
	}
}
