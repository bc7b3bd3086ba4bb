package main

import (
	"context"
	"testing"
	"time"

	fnv1 "github.com/crossplane/function-sdk-go/proto/v1"
)

// held is a function whose calls begin, and are then held until they are
// released.
type held struct {
	fnv1.UnimplementedFunctionRunnerServiceServer

	begun    chan struct{}
	released chan struct{}
}

func (h held) RunFunction(context.Context, *fnv1.RunFunctionRequest) (*fnv1.RunFunctionResponse, error) {
	h.begun <- struct{}{}
	<-h.released
	return &fnv1.RunFunctionResponse{}, nil
}

func TestDrain(t *testing.T) {
	t.Parallel()

	call := func() (*drainable, held, <-chan struct{}) {
		h := held{begun: make(chan struct{}), released: make(chan struct{})}
		d := &drainable{FunctionRunnerServiceServer: h}
		answered := make(chan struct{})
		go func() {
			_, _ = d.RunFunction(context.Background(), &fnv1.RunFunctionRequest{})
			close(answered)
		}()
		<-h.begun
		return d, h, answered
	}

	t.Run("Finishes", func(t *testing.T) {
		t.Parallel()
		d, h, answered := call()
		drained := make(chan struct{})
		go func() {
			d.drain(time.Hour)
			close(drained)
		}()
		select {
		case <-drained:
			t.Fatal("drain returned while a call was under way")
		case h.released <- struct{}{}:
		}
		<-answered
		<-drained
	})

	t.Run("Hangs", func(t *testing.T) {
		t.Parallel()
		d, h, answered := call()
		d.drain(time.Millisecond)
		select {
		case <-answered:
			t.Fatal("the call ended before it was released")
		case h.released <- struct{}{}:
		}
		<-answered
	})
}
