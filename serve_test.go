package main

import (
	"context"
	"path/filepath"
	"testing"
	"time"

	"github.com/crossplane/function-sdk-go/logging"
	fnv1 "github.com/crossplane/function-sdk-go/proto/v1"
	"google.golang.org/grpc"
	"google.golang.org/grpc/codes"
	"google.golang.org/grpc/credentials/insecure"
	healthv1 "google.golang.org/grpc/health/grpc_health_v1"
	"google.golang.org/grpc/status"
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
	return &fnv1.RunFunctionResponse{Meta: &fnv1.ResponseMeta{Tag: "answered"}}, nil
}

func TestStop(t *testing.T) {
	t.Parallel()

	cases := map[string]struct {
		reason       string
		drainTimeout time.Duration
		// finish releases the call before the server is to have stopped.
		finish bool
		want   codes.Code
	}{
		"Finishes": {"A call that is under way should be answered, whatever it takes.", time.Hour, true, codes.OK},
		"Hangs":    {"A call that never ends should not keep the process.", time.Millisecond, false, codes.Unavailable},
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			h := held{begun: make(chan struct{}), released: make(chan struct{})}
			s := &server{
				function: h, network: "unix", address: filepath.Join(t.TempDir(), "socket"), credentials: insecure.NewCredentials(), maxRecvMessageSize: 1 << 20,
				drainTimeout: tc.drainTimeout, log: logging.NewNopLogger(),
			}
			ctx, stop := context.WithCancel(t.Context())
			stopped := make(chan error, 1)
			go func() { stopped <- s.serve(ctx) }()

			answered := make(chan error, 1)
			runner := fnv1.NewFunctionRunnerServiceClient(client(t, s.address))
			go func() {
				rsp, err := runner.RunFunction(t.Context(), &fnv1.RunFunctionRequest{}, grpc.WaitForReady(true))
				if err == nil && rsp.GetMeta().GetTag() != "answered" {
					t.Errorf("\n%s\nwant the function's answer, got %v", tc.reason, rsp)
				}
				answered <- err
			}()
			<-h.begun
			stop()
			if tc.finish {
				// It is stopping once it takes no more connections.
				for taken := true; taken; {
					_, err := healthv1.NewHealthClient(client(t, s.address)).Check(t.Context(), &healthv1.HealthCheckRequest{})
					taken = status.Code(err) != codes.Unavailable
				}
				close(h.released)
			}
			if err := <-answered; status.Code(err) != tc.want {
				t.Errorf("\n%s\nwant %s, got %v", tc.reason, tc.want, err)
			}
			if !tc.finish {
				close(h.released)
			}
			if err := <-stopped; err != nil {
				t.Errorf("\n%s\nserve(): %v", tc.reason, err)
			}
		})
	}
}

// client returns a connection to a socket, which is made at the first call.
func client(t *testing.T, socket string) *grpc.ClientConn {
	t.Helper()
	connection, err := grpc.NewClient("unix:"+socket, grpc.WithTransportCredentials(insecure.NewCredentials()))
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = connection.Close() })
	return connection
}
