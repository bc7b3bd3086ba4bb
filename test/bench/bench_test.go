package bench

import (
	"context"
	"fmt"
	"net"
	"testing"

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
}

func (c *canned) RunFunction(context.Context, *fnv1.RunFunctionRequest) (*fnv1.RunFunctionResponse, error) {
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

func benchmark(b *testing.B, function fnv1.FunctionRunnerServiceServer, req *fnv1.RunFunctionRequest) {
	b.Helper()
	client := serve(b, function)
	for _, concurrency := range []int{1, 16} {
		b.Run(fmt.Sprintf("c=%d", concurrency), func(b *testing.B) {
			b.ReportAllocs()
			calls := make(chan struct{})
			done := make(chan error)
			for range concurrency {
				go func() {
					for range calls {
						if _, err := client.RunFunction(context.Background(), req); err != nil {
							done <- err
							return
						}
					}
					done <- nil
				}()
			}
			for b.Loop() {
				calls <- struct{}{}
			}
			close(calls)
			for range concurrency {
				if err := <-done; err != nil {
					b.Fatal(err)
				}
			}
		})
	}
}

func converged(tb testing.TB, f *fn.Function) *fnv1.RunFunctionRequest {
	tb.Helper()
	input, err := structpb.NewStruct(map[string]any{
		"apiVersion": "tmi.fn.crossplane.io/v1beta1", "kind": "Input",
		"nats": map[string]any{"provisioning": "Disabled"},
	})
	if err != nil {
		tb.Fatal(err)
	}
	req, err := Converged(tb.Context(), f, composite(tb), input)
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
	rsp, err := f.RunFunction(b.Context(), proto.Clone(req).(*fnv1.RunFunctionRequest)) //nolint:forcetypeassert // A clone is of the same type.
	if err != nil {
		b.Fatal(err)
	}
	benchmark(b, &canned{rsp: rsp}, req)
}

// BenchmarkInProcess is the function alone, without a server.
func BenchmarkInProcess(b *testing.B) {
	f := fn.New()
	req := converged(b, f)
	b.ReportAllocs()
	for b.Loop() {
		if _, err := f.RunFunction(b.Context(), &fnv1.RunFunctionRequest{Meta: req.GetMeta(), Input: req.GetInput(), Observed: req.GetObserved()}); err != nil {
			b.Fatal(err)
		}
	}
}
