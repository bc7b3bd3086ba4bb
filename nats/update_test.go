package nats

import (
	"encoding/json"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/nats-io/nats.go/jetstream"
)

func TestApply(t *testing.T) {
	cases := map[string]struct {
		reason string
		found  string
		patch  patch
		want   string
	}{
		"UnknownFields": {
			reason: "What a newer server knows and nats.go does not is kept, to the last digit.",
			found:  `{"name":"X","subjects":["a"],"of_tomorrow":{"deep":[1,2.50]},"big":18446744073709551615,"max_age":0}`,
			patch:  patch{set: map[string]any{"subjects": []string{"b"}}},
			want:   `{"name":"X","subjects":["b"],"of_tomorrow":{"deep":[1,2.50]},"big":18446744073709551615,"max_age":0,"metadata":{}}`,
		},
		"Metadata": {
			reason: "Metadata of others stays beside ours.",
			found:  `{"metadata":{"theirs":"kept","tmi.dev/component":"old"}}`,
			patch:  patch{metadata: map[string]string{"tmi.dev/component": "new"}},
			want:   `{"metadata":{"theirs":"kept","tmi.dev/component":"new"}}`,
		},
		"NoMetadata": {
			reason: "There may be none yet.",
			found:  `{"metadata":null}`,
			patch:  patch{metadata: map[string]string{"a": "b"}},
			want:   `{"metadata":{"a":"b"}}`,
		},
		"Consumer": {
			reason: "Durations are nanoseconds; a backoff can be taken away.",
			found:  `{"ack_wait":1000000000,"backoff":[1000000000],"metadata":{}}`,
			patch:  patch{set: map[string]any{"ack_wait": 90 * time.Second, "max_deliver": 3}, unset: []string{"backoff"}},
			want:   `{"ack_wait":90000000000,"max_deliver":3,"metadata":{}}`,
		},
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			var config, want rawConfig
			if err := json.Unmarshal([]byte(tc.found), &config); err != nil {
				t.Fatal(err)
			}
			if err := json.Unmarshal([]byte(tc.want), &want); err != nil {
				t.Fatal(err)
			}
			if err := config.apply(tc.patch); err != nil {
				t.Fatal(err)
			}
			if diff := cmp.Diff(texts(want), texts(config)); diff != "" {
				t.Errorf("%s\n-want +got:\n%s", tc.reason, diff)
			}
		})
	}
}

func TestApplyToNonsense(t *testing.T) {
	if err := (rawConfig{"metadata": json.RawMessage(`7`)}).apply(patch{}); err == nil {
		t.Error("want an error for metadata that is none")
	}
	if _, err := decode[jetstream.StreamConfig](rawConfig{"retention": json.RawMessage(`"of tomorrow"`)}); err == nil {
		t.Error("want an error for a retention that nobody knows")
	}
}

func texts(c rawConfig) map[string]string {
	m := make(map[string]string, len(c))
	for k, v := range c {
		m[k] = string(v)
	}
	return m
}
