// Command lab puts a whole cluster up on this machine, with the function
// installed, prints how to reach it, and takes it down at Ctrl-C.
package main

import (
	"context"
	"flag"
	"fmt"
	"os"
	"os/signal"
	"syscall"

	"tmi.dev/function-tmicomponent/test/lab"
)

func main() {
	configuration := flag.String("configuration", string(lab.Claims), "what is installed: claim or namespaced")
	flag.Parse()
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
	defer stop()
	if err := run(ctx, lab.Configuration(*configuration)); err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(1)
	}
}

func run(ctx context.Context, c lab.Configuration) error {
	l, err := lab.Start(ctx, lab.Options{Configuration: c, Progress: os.Stderr})
	if err != nil {
		return err
	}
	defer l.Stop()
	fmt.Printf("export KUBECONFIG=%s\n", l.Kubeconfig())
	fmt.Printf("NATS: %s, monitored at http://%s\n", l.NATS.URL, l.NATS.Monitoring)
	fmt.Printf("The function's metrics: %s\nLogs of all parts: %s\nWho wrote what: %s\n", l.FunctionMetrics, l.Logs(), l.AuditLog())
	fmt.Println("Ctrl-C stops it all.")
	<-ctx.Done()
	return nil
}
