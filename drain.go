package main

import (
	"context"
	"sync"
	"time"

	fnv1 "github.com/crossplane/function-sdk-go/proto/v1"
)

// A drainable function can be waited for. A call that is cut off ends in a gRPC
// error, with which Crossplane would set every condition to unknown.
type drainable struct {
	fnv1.FunctionRunnerServiceServer

	// calls are its readers.
	calls sync.RWMutex
}

// RunFunction runs the function, unless it has been drained: then it blocks
// until the process ends.
func (d *drainable) RunFunction(ctx context.Context, req *fnv1.RunFunctionRequest) (*fnv1.RunFunctionResponse, error) {
	d.calls.RLock()
	defer d.calls.RUnlock()
	return d.FunctionRunnerServiceServer.RunFunction(ctx, req)
}

// drain returns when the last call is done, or after the timeout.
func (d *drainable) drain(timeout time.Duration) {
	done := make(chan struct{})
	go func() {
		d.calls.Lock()
		close(done)
	}()
	select {
	case <-done:
	case <-time.After(timeout):
	}
}
