// Command render renders one component on this machine, with all that takes
// part running for real: Crossplane, the function and a nats-server. It then
// shows the stream and the consumer that the function made there. `make render`
// runs it.
//
// Progress goes to standard error and what is rendered to standard output.
package main

import (
	"context"
	"errors"
	"flag"
	"fmt"
	"os"
	"os/signal"
	"path/filepath"
	"syscall"

	"tmi.dev/function-tmicomponent/test/render"
)

// options are what a person chooses.
type options struct {
	component string // path of its YAML
	api       string
	nats      string
}

func main() {
	o := options{}
	flag.StringVar(&o.component, "xr", "example/component.yaml", "YAML of a TMIComponent (claim or namespaced) or an XTMIComponent")
	flag.StringVar(&o.api, "api", "claim", "what a TMIComponent is: claim or namespaced")
	flag.StringVar(&o.nats, "nats", "on", "off renders without NATS")
	flag.Parse()

	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM, syscall.SIGHUP)
	err := run(ctx, o)
	interrupted := ctx.Err() != nil
	stop()
	switch {
	case interrupted:
		fmt.Fprintln(os.Stderr, "render: interrupted; everything is stopped")
		os.Exit(130)
	case err != nil:
		fmt.Fprintln(os.Stderr, "render:", err)
		os.Exit(1)
	}
}

func step(format string, args ...any) {
	fmt.Fprintf(os.Stderr, "== "+format+"\n", args...)
}

func run(ctx context.Context, o options) (err error) {
	if o.api != "claim" && o.api != "namespaced" {
		return fmt.Errorf("API is %q, not claim or namespaced", o.api)
	}
	if o.nats != "on" && o.nats != "off" {
		return fmt.Errorf("NATS is %q, not on or off", o.nats)
	}
	component, err := render.ReadManifest(o.component)
	if err != nil {
		return err
	}
	repository, err := render.FindRepository()
	if err != nil {
		return err
	}
	tmp, err := os.MkdirTemp("", "render-")
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, os.RemoveAll(tmp)) }()

	step("pinned programs")
	if err := repository.BuildTools(ctx, os.Stderr); err != nil {
		return err
	}
	crossplane, err := render.NewCrossplane(ctx, repository)
	if err != nil {
		return err
	}

	natsURL := ""
	if o.nats == "on" {
		step("nats-server")
		server, err := repository.StartNATSServer(ctx, tmp)
		if err != nil {
			return err
		}
		defer server.Stop()
		natsURL = server.URL
	}

	step("function")
	program := filepath.Join(tmp, "function")
	if err := repository.BuildFunction(ctx, program); err != nil {
		return err
	}
	function, err := render.StartFunction(ctx, program, natsURL)
	if err != nil {
		return err
	}
	defer function.Stop()

	composite, configuration := o.component, o.api
	switch {
	case component.Kind == render.CompositeKind:
		configuration = "claim"
	case o.api == "claim":
		step("claim %s/%s -> composite", component.Metadata.Namespace, component.Metadata.Name)
		composite = filepath.Join(tmp, "xr.yaml")
		if err := crossplane.WriteCompositeOf(ctx, o.component, component.Metadata.Name, composite); err != nil {
			return err
		}
	}

	step("crossplane composition render")
	out, err := crossplane.Render(ctx, composite, render.Pipeline{
		Definition:  repository.Path("package", "configuration", configuration, "definition.yaml"),
		Composition: repository.Path("package", "configuration", configuration, "composition.yaml"),
		Functions:   repository.Path("example", "functions.yaml"),
		Target:      function.Target,
	})
	if err != nil {
		return err
	}
	fmt.Print(out)

	if natsURL == "" {
		return nil
	}
	step("JetStream at %s now has", natsURL)
	return render.DescribeJetStream(ctx, os.Stdout, natsURL)
}
