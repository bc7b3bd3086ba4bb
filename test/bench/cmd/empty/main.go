// Empty is a composition function that does nothing, to measure ours beside.
package main

import (
	"context"
	"flag"
	"log"

	"github.com/crossplane/function-sdk-go"
	fnv1 "github.com/crossplane/function-sdk-go/proto/v1"
	"github.com/crossplane/function-sdk-go/response"
)

type empty struct {
	fnv1.UnimplementedFunctionRunnerServiceServer
}

func (empty) RunFunction(_ context.Context, req *fnv1.RunFunctionRequest) (*fnv1.RunFunctionResponse, error) {
	return response.To(req, response.DefaultTTL), nil
}

func main() {
	address := flag.String("address", ":9443", "Address to listen at.")
	flag.Parse()
	log.Fatal(function.Serve(empty{}, function.Listen("tcp", *address), function.Insecure(true), function.WithMetricsServer("")))
}
