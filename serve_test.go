package main

import (
	"context"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/crossplane/function-sdk-go/logging"
	fnv1 "github.com/crossplane/function-sdk-go/proto/v1"
	"github.com/google/go-cmp/cmp"
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
			runner := fnv1.NewFunctionRunnerServiceClient(client(t, "unix:"+s.address))
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
					_, err := healthv1.NewHealthClient(client(t, "unix:"+s.address)).Check(t.Context(), &healthv1.HealthCheckRequest{})
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

func TestTransportCredentials(t *testing.T) {
	t.Parallel()

	file, missing := usable(t, "tls.crt"), filepath.Join(t.TempDir(), "missing")
	folder := filepath.Dir(file)
	for _, name := range []string{"tls.key", "ca.crt"} {
		if err := os.Link(file, filepath.Join(folder, name)); err != nil {
			t.Fatal(err)
		}
	}
	type args struct {
		folder   string
		insecure bool
	}
	type want struct {
		protocol string
		err      string
	}
	cases := map[string]struct {
		reason string
		args   args
		want   want
	}{
		"Folder":   {"The folder should be used.", args{folder, false}, want{"tls", ""}},
		"Missing":  {"A folder that is not there should be told, with its flag.", args{missing, false}, want{"", "--tls-server-certs-dir"}},
		"Insecure": {"With --insecure it should be ignored: it need not be there.", args{missing, true}, want{"insecure", ""}},
		"None":     {"Nor need it be given.", args{"", true}, want{"insecure", ""}},
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			got, err := transportCredentials(tc.args.folder, tc.args.insecure)
			if (err != nil) != (tc.want.err != "") || err != nil && !strings.Contains(err.Error(), tc.want.err) {
				t.Fatalf("\n%s\ntransportCredentials(...): want error %q, got %v", tc.reason, tc.want.err, err)
			}
			if err != nil {
				return
			}
			if diff := cmp.Diff(tc.want.protocol, got.Info().SecurityProtocol); diff != "" {
				t.Errorf("\n%s\ntransportCredentials(...): -want, +got:\n%s", tc.reason, diff)
			}
		})
	}
}

// client returns a connection to a gRPC target, which is made at the first call.
func client(t *testing.T, target string) *grpc.ClientConn {
	t.Helper()
	connection, err := grpc.NewClient(target, grpc.WithTransportCredentials(insecure.NewCredentials()))
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = connection.Close() })
	return connection
}
