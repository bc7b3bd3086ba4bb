package bench

import (
	"context"
	"fmt"
	"testing"
	"time"

	fnv1 "github.com/crossplane/function-sdk-go/proto/v1"

	"tmi.dev/function-tmicomponent/fn"
)

const (
	// batch is how many calls each server gets in a row: some tens of milliseconds.
	batch = 64

	// allowance for all that the function does, as a multiple of a call that is
	// answered with canned bytes.
	allowance = 1.3
)

// BenchmarkBeside measures four servers beside each other, a few calls of each
// in turn, so that whatever else the machine does is the same to all. It reports
// by how much the function costs more than a canned response, in processor time,
// and what it costs of what it may cost if it looks at JetStream: the allowance,
// and what two requests to the same nats-server add to a canned response. A
// server that waits for NATS has to be woken, too, which is part of that.
func BenchmarkBeside(b *testing.B) {
	offline := fn.New()
	req := converged(b, offline)
	rsp := answer(b, offline, req)
	online, onlineReq := withJetStream(b)

	const cannedOnly, function, cannedAndRequests, functionAndRequests = 0, 1, 2, 3
	servers := [...]struct {
		client fnv1.FunctionRunnerServiceClient
		req    *fnv1.RunFunctionRequest
	}{
		cannedOnly:          {serve(b, &canned{rsp: rsp}), req},
		function:            {serve(b, offline), req},
		cannedAndRequests:   {serve(b, &canned{rsp: rsp, before: twoRequests(b)}), req},
		functionAndRequests: {serve(b, online), onlineReq},
	}
	for _, concurrency := range []int{1, 16} {
		b.Run(fmt.Sprintf("c=%d", concurrency), func(b *testing.B) {
			var used [len(servers)]time.Duration
			for b.Loop() {
				for i, s := range servers {
					started := processorTime(b)
					atOnce(b, concurrency, func(int) error { return composed(s.client.RunFunction(context.Background(), s.req)) })
					used[i] += processorTime(b) - started
				}
			}
			requests := used[cannedAndRequests] - used[cannedOnly]
			allowed := allowance*float64(used[cannedOnly]) + float64(requests)
			b.ReportMetric(float64(used[function])/float64(used[cannedOnly]), "of-canned")
			b.ReportMetric(float64(used[functionAndRequests])/allowed, "of-allowed-with-JetStream")
			b.ReportMetric(float64(used[cannedOnly])/float64(b.N*batch), "canned-ns/call")
			b.ReportMetric(float64(requests)/float64(b.N*batch), "requests-ns/call")
		})
	}
}

// atOnce makes a batch of calls, so many at a time. Each is told its number, from
// 0.
func atOnce(b *testing.B, concurrency int, call func(n int) error) {
	b.Helper()
	done := make(chan error, concurrency)
	for first := range concurrency {
		go func() {
			var err error
			for n := first; n < batch && err == nil; n += concurrency {
				err = call(n)
			}
			done <- err
		}()
	}
	for range concurrency {
		if err := <-done; err != nil {
			b.Fatal(err)
		}
	}
}
