package main

import (
	"context"
	"fmt"
	"net"
	"net/http"
	"time"

	"github.com/crossplane/function-sdk-go"
	"github.com/crossplane/function-sdk-go/logging"
	fnv1 "github.com/crossplane/function-sdk-go/proto/v1"
	fnv1beta1 "github.com/crossplane/function-sdk-go/proto/v1beta1"
	grpcprometheus "github.com/grpc-ecosystem/go-grpc-middleware/providers/prometheus"
	"github.com/prometheus/client_golang/prometheus"
	"github.com/prometheus/client_golang/prometheus/promhttp"
	"google.golang.org/grpc"
	"google.golang.org/grpc/credentials"
	"google.golang.org/grpc/health"
	healthv1 "google.golang.org/grpc/health/grpc_health_v1"
	"google.golang.org/grpc/reflection"
)

// metricsHeaderTimeout is the SDK's: how long a client may take to send the
// headers of a request for metrics.
const metricsHeaderTimeout = 30 * time.Second

// A server serves a function over gRPC, and metrics over HTTP, as the SDK's
// function.Serve does. That one cannot be stopped: a call that is cut off ends
// in a gRPC error, with which Crossplane would set every condition to unknown.
type server struct {
	function           fnv1.FunctionRunnerServiceServer
	network, address   string
	credentials        credentials.TransportCredentials
	maxRecvMessageSize int // in bytes

	// registry of the metrics at metricsAddress; without an address, there are
	// none.
	registry       *prometheus.Registry
	metricsAddress string

	// drainTimeout is how long calls that are under way may take once the
	// server is to stop.
	drainTimeout time.Duration
	log          logging.Logger
}

// serve until ctx ends, and then finish the calls that are under way. It returns
// an error if it cannot listen, or can no longer serve.
func (s *server) serve(ctx context.Context) error {
	var listen net.ListenConfig
	calls, err := listen.Listen(ctx, s.network, s.address)
	if err != nil {
		return fmt.Errorf("cannot serve at --address: %w", err)
	}
	grpcServer, healthServer := s.grpcServer()
	defer grpcServer.Stop()
	failed := make(chan error, 2)
	if s.metricsAddress != "" {
		requests, err := listen.Listen(ctx, "tcp", s.metricsAddress)
		if err != nil {
			_ = calls.Close()
			return fmt.Errorf("cannot serve metrics at --metrics-address: %w", err)
		}
		metrics := &http.Server{Handler: promhttp.HandlerFor(s.registry, promhttp.HandlerOpts{}), ReadHeaderTimeout: metricsHeaderTimeout}
		defer func() { _ = metrics.Close() }()
		go func() { failed <- fmt.Errorf("cannot serve metrics: %w", metrics.Serve(requests)) }()
	}
	go func() { failed <- fmt.Errorf("cannot serve calls: %w", grpcServer.Serve(calls)) }()

	select {
	case err := <-failed:
		return err
	case <-ctx.Done():
	}
	s.log.Info("Stopping; finishing the calls that are under way")
	healthServer.Shutdown()
	s.drain(grpcServer)
	return nil
}

// drain tells clients to go elsewhere, and returns when the last call is
// answered, or after the timeout.
func (s *server) drain(grpcServer *grpc.Server) {
	timeout := time.AfterFunc(s.drainTimeout, grpcServer.Stop)
	defer timeout.Stop()
	grpcServer.GracefulStop()
}

// grpcServer returns the server with all its services, and its health, which is
// that it serves.
func (s *server) grpcServer() (*grpc.Server, *health.Server) {
	options := []grpc.ServerOption{grpc.Creds(s.credentials), grpc.MaxRecvMsgSize(s.maxRecvMessageSize)}
	metrics := grpcprometheus.NewServerMetrics()
	if s.metricsAddress != "" {
		options = append(options, grpc.ChainUnaryInterceptor(metrics.UnaryServerInterceptor()))
		s.registry.MustRegister(metrics)
	}
	g, h := grpc.NewServer(options...), health.NewServer()
	fnv1.RegisterFunctionRunnerServiceServer(g, s.function)
	fnv1beta1.RegisterFunctionRunnerServiceServer(g, function.ServeBeta(s.function)) // for Crossplane before 1.17
	healthv1.RegisterHealthServer(g, h)
	reflection.Register(g)
	metrics.InitializeMetrics(g)
	return g, h
}

// transportCredentials returns mutual TLS with the files of the folder, or none
// if the function is to be insecure.
func transportCredentials(folder string, insecure bool) (credentials.TransportCredentials, error) {
	option := function.MTLSCertificates(folder)
	if insecure {
		option = function.Insecure(true)
	}
	options := &function.ServeOptions{}
	if err := option(options); err != nil {
		return nil, fmt.Errorf("cannot use --tls-server-certs-dir: %w", err)
	}
	return options.Credentials, nil
}
