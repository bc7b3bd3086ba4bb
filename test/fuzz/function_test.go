// Package fuzz looks for input that breaks the function, and for disagreement
// with nats-server. What was found stays in testdata/fuzz, and is part of every
// test run.
package fuzz

import (
	"context"
	"os"
	"path/filepath"
	"testing"

	fnv1 "github.com/crossplane/function-sdk-go/proto/v1"
	"google.golang.org/protobuf/encoding/protojson"
	"google.golang.org/protobuf/proto"
	"google.golang.org/protobuf/types/known/structpb"
	"sigs.k8s.io/yaml"

	"tmi.dev/function-tmicomponent/fn"
	"tmi.dev/function-tmicomponent/nats"
	"tmi.dev/function-tmicomponent/test/bench"
)

// obliging is a NATS where everything is as it should be.
type obliging struct{}

func (obliging) EnsureStreamAndConsumer(context.Context, nats.Request) (nats.Outcome, error) {
	return nats.Outcome{State: nats.Provisioned}, nil
}

// maxGrowth is how much larger than the request a response can be. A condition
// of 100 broken rules, each with its path and the beginning of what was wrong,
// stands in four places.
const maxGrowth = 256 << 10

// FuzzRunFunction sends the function whatever protobuf can hold.
func FuzzRunFunction(f *testing.F) {
	function := fn.New(fn.WithStreamProvisioner(obliging{}), fn.WithDefaultNATS(nats.Settings{URL: "nats://127.0.0.1"}))
	for _, req := range requests(f, function) {
		b, err := proto.Marshal(req)
		if err != nil {
			f.Fatal(err)
		}
		f.Add(b)
	}
	f.Fuzz(func(t *testing.T, b []byte) {
		req := &fnv1.RunFunctionRequest{}
		if err := proto.Unmarshal(b, req); err != nil {
			return
		}
		rsp, err := function.RunFunction(t.Context(), req)
		if err != nil {
			t.Fatalf("want every fault in the response, got %v", err)
		}
		if got := len(rsp.GetConditions()); got != 5 {
			t.Errorf("want all 5 conditions, got %d", got)
		}
		for _, c := range rsp.GetConditions() {
			if c.GetReason() == fn.ReasonInternalError {
				t.Errorf("the function panicked: %s", c.GetMessage())
			}
		}
		sent, err := proto.Marshal(rsp)
		if err != nil {
			t.Errorf("the response cannot be sent: %v", err)
		}
		if len(sent) > 8*len(b)+maxGrowth {
			t.Errorf("a request of %d bytes has a response of %d", len(b), len(sent))
		}
	})
}

// requests to begin with: every case, new and converged, valid and not.
func requests(f *testing.F, function *fn.Function) []*fnv1.RunFunctionRequest {
	f.Helper()
	cases, err := filepath.Glob("../cases/*/*.yaml")
	if err != nil || len(cases) == 0 {
		f.Fatalf("no cases: %v", err)
	}
	in := readStruct(f, []byte(`{"apiVersion": "tmi.fn.crossplane.io/v1beta1", "kind": "Input", "targetNamespace": "tmi-platform",
		"nats": {"provisioning": "Ensure", "timeout": "3s", "streamReplicas": 3, "peer": {"podSelector": {"app": "nats"}, "port": 4222}},
		"dnsPeers": [{"cidr": "169.254.20.10/32"}], "allowedSubjects": ["jobs.>"], "ttl": {"steady": "1m", "converging": "5s"}}`))

	var all []*fnv1.RunFunctionRequest
	for _, path := range cases {
		content, err := os.ReadFile(path)
		if err != nil {
			f.Fatal(err)
		}
		text, err := yaml.YAMLToJSON(content)
		if err != nil {
			f.Fatal(err)
		}
		xr := readStruct(f, text)
		all = append(all, &fnv1.RunFunctionRequest{Input: in, Observed: &fnv1.State{Composite: &fnv1.Resource{Resource: xr}}})
		if converged, err := bench.Converged(f.Context(), function, xr, nil); err == nil {
			all = append(all, converged)
		}
	}
	return all
}

func readStruct(f *testing.F, text []byte) *structpb.Struct {
	f.Helper()
	s := &structpb.Struct{}
	if err := protojson.Unmarshal(text, s); err != nil {
		f.Fatal(err)
	}
	return s
}
