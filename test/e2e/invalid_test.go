//go:build e2e

package e2e

import (
	"strings"
	"testing"
)

// An invalid change is refused on the component, with the field and the
// reason, and what runs is left as it is. Correcting it is enough to recover.
func testInvalidChange(t *testing.T) {
	t.Parallel()
	c := newComponent(t, "mistaken")
	c.waitReady()
	eventually(t, soon, c.isAsleep)
	stream, err := c.stream()
	if err != nil {
		t.Fatal(err)
	}
	r := record(t, c)

	// Every cloud's metadata service is in this range, which the schema of
	// the API cannot tell: only the function can.
	c.change(func(spec map[string]any) {
		spec["image"] = newImage
		spec["egress"] = "allowlist"
		spec["allowlist"] = map[string]any{"cidrs": []any{"169.254.0.0/16"}}
	})
	eventually(t, soon, func() error { return c.hasCondition("SpecValid", "False", "InvalidSpec") })
	message := c.message("SpecValid")
	t.Logf("the team reads: %s", message)
	for _, want := range []string{"spec.allowlist.cidrs[0]", "169.254.169.254"} {
		if !strings.Contains(message, want) {
			t.Errorf("the message does not say %q", want)
		}
	}
	r.wantNone("after an invalid change", func(ch change) bool {
		return ch.kind != "TMIComponent" && ch.kind != "XTMIComponent" && ch.changedBeside("status")
	})
	if got, err := c.stream(); err != nil || !got.Created.Equal(stream.Created) {
		t.Errorf("the stream is not what it was: %v", err)
	}

	c.change(func(spec map[string]any) { spec["allowlist"] = map[string]any{"cidrs": []any{"203.0.113.0/24"}} })
	eventually(t, soon, func() error { return c.allows("203.0.113.0/24") })
	eventually(t, soon, func() error { return c.hasNewImage() })
	c.waitReady()
}
