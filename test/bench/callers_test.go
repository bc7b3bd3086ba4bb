package bench

import (
	"context"
	"fmt"
	"maps"
	"runtime"
	"strings"
	"sync"
	"testing"

	fnv1 "github.com/crossplane/function-sdk-go/proto/v1"
	"google.golang.org/grpc"
	"google.golang.org/grpc/codes"
	"google.golang.org/grpc/status"
	"google.golang.org/protobuf/proto"
	"google.golang.org/protobuf/types/known/structpb"

	"tmi.dev/function-tmicomponent/fn"
	"tmi.dev/function-tmicomponent/nats"
	"tmi.dev/function-tmicomponent/test/bench/natsd"
)

const (
	callers       = 64
	callsOfEach   = 4
	maxRequest    = 4 << 20  // --max-recv-message-size by default
	maxHeapGrowth = 10 << 20 // once the callers are gone
)

// TestCallers has 64 callers at once send all kinds of requests over one
// connection, as Crossplane does: what can be answered is, and rightly; what is
// too large is refused, without harm to the others; and no memory stays in use.
func TestCallers(t *testing.T) {
	t.Parallel()

	provisioner := nats.NewProvisioner()
	t.Cleanup(provisioner.Close)
	function := fn.New(fn.WithStreamProvisioner(provisioner), fn.WithDefaultNATS(nats.Settings{URL: natsd.Start(t)}))
	client := serve(t, function, grpc.MaxRecvMsgSize(maxRequest))
	offline := inputOf(t, map[string]any{"provisioning": "Disabled"})

	// call is one kind of request, and what must come of it.
	type call struct {
		name    string
		request func(caller, n int) *fnv1.RunFunctionRequest
		code    codes.Code
		// resources that are composed, and whether the answer is Fatal.
		resources int
		fatal     bool
	}
	unpadded := request(component(t, "largest", nil), offline)
	largest, tooLarge := padded(unpadded, maxRequest), padded(unpadded, maxRequest+1)

	calls := []call{
		{name: "offline", resources: 3, request: func(caller, n int) *fnv1.RunFunctionRequest {
			return request(component(t, fmt.Sprintf("worker-%d-%d", caller, n), nil), offline)
		}},
		{name: "with JetStream", resources: 3, request: func(caller, _ int) *fnv1.RunFunctionRequest {
			return request(component(t, fmt.Sprintf("worker-%d", caller), nil), inputOf(t, map[string]any{"timeout": "1m"}))
		}},
		{name: "invalid", fatal: true, request: func(int, int) *fnv1.RunFunctionRequest {
			return request(component(t, "invalid", map[string]any{"image": "", "jobSubjects": []any{}}), offline)
		}},
		{name: "a spec too large", fatal: true, request: func(int, int) *fnv1.RunFunctionRequest {
			return request(component(t, "hostile", map[string]any{"image": strings.Repeat("x", maxRequest/2)}), offline)
		}},
		{name: "empty", fatal: true, request: func(int, int) *fnv1.RunFunctionRequest { return &fnv1.RunFunctionRequest{} }},
		{name: "the largest", resources: 3, request: func(int, int) *fnv1.RunFunctionRequest { return largest }},
		{name: "too large", code: codes.ResourceExhausted, request: func(int, int) *fnv1.RunFunctionRequest { return tooLarge }},
	}
	check := func(caller, n int) error {
		c := calls[(caller+n)%len(calls)]
		rsp, err := client.RunFunction(context.WithoutCancel(t.Context()), c.request(caller, n))
		if status.Code(err) != c.code {
			return fmt.Errorf("%s: want %s, got %w", c.name, c.code, err)
		}
		if got := len(rsp.GetDesired().GetResources()); got != c.resources {
			return fmt.Errorf("%s: want %d resources, got %d: %v", c.name, c.resources, got, rsp.GetResults())
		}
		fatal := len(rsp.GetResults()) > 0 && rsp.GetResults()[0].GetSeverity() == fnv1.Severity_SEVERITY_FATAL
		if fatal != c.fatal {
			return fmt.Errorf("%s: want it fatal: %t, got %v", c.name, c.fatal, rsp.GetResults())
		}
		return nil
	}

	run := func() {
		var wg sync.WaitGroup
		for caller := range callers {
			wg.Go(func() {
				for n := range callsOfEach {
					if err := check(caller, n); err != nil {
						t.Error(err)
						return
					}
				}
			})
		}
		wg.Wait()
	}
	run() // What is made once, such as pools and buffers, is there after this.
	before := heap()
	run()
	if grown := int64(heap()) - int64(before); grown > maxHeapGrowth { //nolint:gosec // No heap is that large.
		t.Errorf("%d bytes more are in use after another %d calls", grown, callers*callsOfEach)
	}
}

// heap returns how many bytes are in use.
func heap() uint64 {
	// What a pool holds goes at the second collection.
	runtime.GC()
	runtime.GC()
	var m runtime.MemStats
	runtime.ReadMemStats(&m)
	return m.HeapAlloc
}

// component returns a claim's composite of that name. The fields replace those
// of its spec.
func component(tb testing.TB, name string, fields map[string]any) *structpb.Struct {
	tb.Helper()
	spec := map[string]any{
		"claimRef":    map[string]any{"name": name, "namespace": "team"},
		"image":       "worker:dev",
		"jobSubjects": []any{"jobs." + name},
	}
	maps.Copy(spec, fields)
	s, err := structpb.NewStruct(map[string]any{
		"apiVersion": "tmi.dev/v1alpha1", "kind": "XTMIComponent", "metadata": map[string]any{"name": name + "-x7k2p"}, "spec": spec,
	})
	if err != nil {
		tb.Fatal(err)
	}
	return s
}

func inputOf(tb testing.TB, nats map[string]any) *structpb.Struct {
	tb.Helper()
	s, err := structpb.NewStruct(map[string]any{"apiVersion": "tmi.fn.crossplane.io/v1beta1", "kind": "Input", "nats": nats})
	if err != nil {
		tb.Fatal(err)
	}
	return s
}

func request(xr, input *structpb.Struct) *fnv1.RunFunctionRequest {
	return &fnv1.RunFunctionRequest{
		Meta:     &fnv1.RequestMeta{Tag: "drawn"},
		Input:    input,
		Observed: &fnv1.State{Composite: &fnv1.Resource{Resource: xr}},
	}
}

// padded returns the request with something in it that the function does not
// look at, so that it has that many bytes.
func padded(req *fnv1.RunFunctionRequest, size int) *fnv1.RunFunctionRequest {
	p := proto.Clone(req).(*fnv1.RunFunctionRequest) //nolint:forcetypeassert // A clone is of the same type.
	pad := func(n int) {
		p.Observed.Resources = map[string]*fnv1.Resource{"other": {Resource: &structpb.Struct{Fields: map[string]*structpb.Value{
			"padding": structpb.NewStringValue(strings.Repeat("x", n)),
		}}}}
	}
	// The overhead depends on the size: lengths are of variable length.
	pad(size)
	pad(2*size - proto.Size(p))
	return p
}
