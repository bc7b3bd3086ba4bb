// Command render renders one component on this machine, with all that takes
// part running for real: Crossplane, the function and a nats-server. It then
// shows the stream and the consumer that the function made there. `make render`
// runs it.
//
// Progress goes to standard error and what is rendered to standard output,
// which is YAML: what there is in JetStream is in its comments.
package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"os/signal"
	"path/filepath"
	"strings"
	"syscall"

	"tmi.dev/function-tmicomponent/test/render"
)

// options are what a person chooses, by environment variables: a shell would
// stumble over a path with a quote in it.
type options struct {
	component string // XR: path of the YAML of a TMIComponent (claim or namespaced) or an XTMIComponent
	api       string // API: what a TMIComponent is, claim or namespaced
	nats      string // NATS: on, or off to render without
}

func main() {
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM, syscall.SIGHUP)
	o, err := optionsFrom(os.LookupEnv)
	if err == nil {
		err = run(ctx, o)
	}
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

// optionsFrom reads the options from an environment.
func optionsFrom(lookup func(string) (string, bool)) (options, error) {
	get := func(name, otherwise string) string {
		if value, ok := lookup(name); ok {
			return value
		}
		return otherwise
	}
	o := options{
		component: get("XR", "example/component.yaml"),
		api:       get("API", "claim"),
		nats:      get("NATS", "on"),
	}
	switch {
	case o.component == "":
		return o, errors.New("XR is empty; give the path of a component's YAML, or leave XR out to render example/component.yaml")
	case o.api != "claim" && o.api != "namespaced":
		return o, fmt.Errorf("API is %q, not claim or namespaced", o.api)
	case o.nats != "on" && o.nats != "off":
		return o, fmt.Errorf("NATS is %q, not on or off", o.nats)
	}
	return o, nil
}

func step(format string, args ...any) {
	fmt.Fprintf(os.Stderr, "== "+format+"\n", args...)
}

func run(ctx context.Context, o options) (err error) {
	// The component first: building and starting take a while.
	component, err := render.ReadManifest(o.component)
	if err != nil {
		return err
	}
	configuration := o.api
	if component.Kind == render.CompositeKind && o.api != "claim" {
		fmt.Fprintf(os.Stderr, "render: API=%s is ignored: an %s is always a claim's composite\n", o.api, component.Kind)
		configuration = "claim"
	}
	repository, err := render.FindRepository()
	if err != nil {
		return err
	}
	definition := repository.Path("package", "configuration", configuration, "definition.yaml")
	if err := component.CheckFields(definition); err != nil {
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

	composite := o.component
	if component.Kind == render.ClaimKind && configuration == "claim" {
		step("claim %s/%s -> composite", component.Namespace, component.Name)
		composite = filepath.Join(tmp, "xr.yaml")
		if err := crossplane.WriteCompositeOf(ctx, o.component, component.Name, composite); err != nil {
			return err
		}
	}

	step("crossplane composition render")
	out, err := crossplane.Render(ctx, composite, render.Pipeline{
		Definition:  definition,
		Composition: repository.Path("package", "configuration", configuration, "composition.yaml"),
		Functions:   repository.Path("example", "functions.yaml"),
		Target:      function.Target,
	})
	if refused, ok := errors.AsType[*render.RefusedError](err); ok {
		if problems := refused.FunctionErrors(); len(problems) > 0 {
			return &render.FileError{Path: o.component, Problems: problems}
		}
	}
	if err != nil {
		return err
	}
	fmt.Print(out)

	if natsURL == "" {
		return nil
	}
	jetStream := &strings.Builder{}
	if err := render.DescribeJetStream(ctx, jetStream, natsURL); err != nil {
		return err
	}
	step("JetStream at %s now has", natsURL)
	return comment(os.Stdout, jetStream.String())
}

// comment writes text as comments in YAML.
func comment(w io.Writer, text string) error {
	for line := range strings.Lines(text) {
		if _, err := io.WriteString(w, "# "+line); err != nil {
			return err
		}
	}
	return nil
}
