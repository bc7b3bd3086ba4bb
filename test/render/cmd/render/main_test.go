package main

import (
	"strings"
	"testing"
)

func TestOptionsFrom(t *testing.T) {
	cases := map[string]struct {
		environment map[string]string
		want        options
		err         string
	}{
		"nothing":     {want: options{component: "example/component.yaml", api: "claim", nats: "on"}},
		"all":         {environment: map[string]string{"XR": "it's.yaml", "API": "namespaced", "NATS": "off"}, want: options{component: "it's.yaml", api: "namespaced", nats: "off"}},
		"an empty XR": {environment: map[string]string{"XR": ""}, err: "XR is empty"},
		"other API":   {environment: map[string]string{"API": "cluster"}, err: `API is "cluster", not claim or namespaced`},
		"empty API":   {environment: map[string]string{"API": ""}, err: `API is "", not claim or namespaced`},
		"other NATS":  {environment: map[string]string{"NATS": "no"}, err: `NATS is "no", not on or off`},
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			got, err := optionsFrom(func(name string) (string, bool) {
				value, ok := tc.environment[name]
				return value, ok
			})
			if tc.err != "" {
				if err == nil || !strings.Contains(err.Error(), tc.err) {
					t.Fatalf("want an error with %q, got %v", tc.err, err)
				}
				return
			}
			if err != nil || got != tc.want {
				t.Errorf("want %+v, got %+v, %v", tc.want, got, err)
			}
		})
	}
}

func TestComment(t *testing.T) {
	got := &strings.Builder{}
	if err := comment(got, "stream  A\n  owner  a\n"); err != nil {
		t.Fatal(err)
	}
	if want := "# stream  A\n#   owner  a\n"; got.String() != want {
		t.Errorf("want %q, got %q", want, got)
	}
}
