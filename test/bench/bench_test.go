package bench

import (
	"context"
	"fmt"
	"net"
	"syscall"
	"testing"
	"time"

	fnv1 "github.com/crossplane/function-sdk-go/proto/v1"
	"google.golang.org/grpc"
	"google.golang.org/grpc/credentials/insecure"
	"google.golang.org/protobuf/proto"
	"google.golang.org/protobuf/types/known/structpb"

	"tmi.dev/function-tmicomponent/fn"
)

// composite is a claim's XR as the platform's own extractor has it.
func composite(tb testing.TB) *structpb.Struct {
	tb.Helper()
	s, err := structpb.NewStruct(map[string]any{
		"apiVersion": "tmi.dev/v1alpha1",
		"kind":       "XTMIComponent",
		"metadata":   map[string]any{"name": "tmi-extractor-x7k2p", "generation": 3, "uid": "7a1ff0b5-2f2c-4b0e-9f52-6f5f9a4e6f10"},
		"spec": map[string]any{
			"claimRef":    map[string]any{"apiVersion": "tmi.dev/v1alpha1", "kind": "TMIComponent", "name": "tmi-extractor", "namespace": "tmi-platform"},
			"image":       "tmi-extractor:dev",
			"jobSubjects": []any{"jobs.extract.ooxml", "jobs.extract.pdf", "jobs.extract.html", "jobs.extract.plaintext"},
			"inputMode":   "content-ref",
			"egress":      "none",
			"config": map[string]any{
				"TMI_COMPONENT_NAME": "tmi-extractor", "TMI_NATS_URL": "nats://$(NATS_SERVICE_HOST):4222",
				"TMI_NATS_TLS_SERVER_NAME": "nats", "TMI_JOB_ACK_WAIT": "90s",
			},
			"resources": map[string]any{
				"requests": map[string]any{"cpu": "250m", "memory": "128Mi"},
				"limits":   map[string]any{"cpu": "500m", "memory": "256Mi"},
			},
			"scaling": map[string]any{"minReplicas": 0, "maxReplicas": 10, "queueDepthTarget": 5},
		},
	})
	if err != nil {
		tb.Fatal(err)
	}
	return s
}

// canned answers every request with the same response.
type canned struct {
	fnv1.UnimplementedFunctionRunnerServiceServer

	rsp *fnv1.RunFunctionResponse
	// before, if it is set, is done before each answer.
	before func(context.Context) error
}

func (c *canned) RunFunction(ctx context.Context, _ *fnv1.RunFunctionRequest) (*fnv1.RunFunctionResponse, error) {
	if c.before != nil {
		if err := c.before(ctx); err != nil {
			return nil, err
		}
	}
	return c.rsp, nil
}

// serve serves a function on a free port and returns a client of it.
func serve(tb testing.TB, function fnv1.FunctionRunnerServiceServer, options ...grpc.ServerOption) fnv1.FunctionRunnerServiceClient {
	tb.Helper()
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		tb.Fatal(err)
	}
	server := grpc.NewServer(options...)
	fnv1.RegisterFunctionRunnerServiceServer(server, function)
	go func() { _ = server.Serve(l) }()
	tb.Cleanup(server.Stop)

	connection, err := grpc.NewClient(l.Addr().String(), grpc.WithTransportCredentials(insecure.NewCredentials()))
	if err != nil {
		tb.Fatal(err)
	}
	tb.Cleanup(func() { _ = connection.Close() })
	return fnv1.NewFunctionRunnerServiceClient(connection)
}

// benchmark calls the function through gRPC, one call after the other and 16 at
// a time.
func benchmark(b *testing.B, function fnv1.FunctionRunnerServiceServer, req *fnv1.RunFunctionRequest) {
	b.Helper()
	client := serve(b, function)
	for _, concurrency := range []int{1, 16} {
		b.Run(fmt.Sprintf("c=%d", concurrency), func(b *testing.B) {
			measure(b, concurrency, func(int) error {
				return composed(client.RunFunction(context.Background(), req))
			})
		})
	}
}

// measure measures calls, so many at a time. Each is told its number, from 0.
//
// Beside the time it reports the processor time of the whole process, client
// and all: that is the one to compare on a machine that has other things to do.
func measure(b *testing.B, concurrency int, call func(n int) error) {
	b.Helper()
	b.ReportAllocs()
	calls := make(chan int)
	done := make(chan error, concurrency)
	for range concurrency {
		go func() {
			var err error
			for n := range calls {
				if err == nil {
					err = call(n)
				}
			}
			done <- err
		}()
	}
	n, started := 0, processorTime(b)
	for b.Loop() {
		calls <- n
		n++
	}
	close(calls)
	for range concurrency {
		if err := <-done; err != nil {
			b.Fatal(err)
		}
	}
	b.ReportMetric(float64(processorTime(b)-started)/float64(n), "cpu-ns/op")
}

// processorTime that this process has had.
func processorTime(tb testing.TB) time.Duration {
	tb.Helper()
	var usage syscall.Rusage
	if err := syscall.Getrusage(syscall.RUSAGE_SELF, &usage); err != nil {
		tb.Fatal(err)
	}
	return time.Duration(usage.Utime.Nano() + usage.Stime.Nano())
}

// converged returns the request for a component that is as it should be, with
// JetStream off.
func converged(tb testing.TB, f *fn.Function) *fnv1.RunFunctionRequest {
	tb.Helper()
	req, err := Converged(tb.Context(), f, composite(tb), inputOf(tb, map[string]any{"provisioning": "Disabled"}))
	if err != nil {
		tb.Fatal(err)
	}
	return req
}

func BenchmarkRunFunction(b *testing.B) {
	f := fn.New()
	benchmark(b, f, converged(b, f))
}

func BenchmarkCannedResponse(b *testing.B) {
	f := fn.New()
	req := converged(b, f)
	benchmark(b, &canned{rsp: answer(b, f, req)}, req)
}

// BenchmarkInProcess is the function alone, without a server.
func BenchmarkInProcess(b *testing.B) {
	f := fn.New()
	measure(b, 1, inProcess(f, converged(b, f)))
}

// BenchmarkInProcessCopy is what the protobuf codec needs to make the same
// response once more, by copying it: the same objects, and no work.
func BenchmarkInProcessCopy(b *testing.B) {
	f := fn.New()
	rsp := answer(b, f, converged(b, f))
	measure(b, 1, func(int) error {
		proto.Clone(rsp)
		return nil
	})
}

// answer returns the function's response, and leaves the request as it is.
func answer(tb testing.TB, f *fn.Function, req *fnv1.RunFunctionRequest) *fnv1.RunFunctionResponse {
	tb.Helper()
	rsp, err := f.RunFunction(tb.Context(), proto.Clone(req).(*fnv1.RunFunctionRequest)) //nolint:forcetypeassert // A clone is of the same type.
	if err != nil {
		tb.Fatal(err)
	}
	return rsp
}

// inProcess returns a call of the function without a server.
func inProcess(f *fn.Function, req *fnv1.RunFunctionRequest) func(int) error {
	return func(int) error {
		// The response takes over what is desired so far.
		fresh := &fnv1.RunFunctionRequest{Meta: req.GetMeta(), Input: req.GetInput(), Observed: req.GetObserved()}
		return composed(f.RunFunction(context.Background(), fresh))
	}
}

// composed returns an error unless the response has all that a component is
// made of: what is refused is quick.
func composed(rsp *fnv1.RunFunctionResponse, err error) error {
	if err == nil && len(rsp.GetDesired().GetResources()) != 3 {
		return fmt.Errorf("composed %d resources: %v", len(rsp.GetDesired().GetResources()), rsp.GetResults())
	}
	return err
}
