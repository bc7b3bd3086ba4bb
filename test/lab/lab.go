package lab

import (
	"context"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"slices"
	"sync"
	"time"

	"golang.org/x/sync/errgroup"
	"k8s.io/client-go/rest"
	"sigs.k8s.io/controller-runtime/pkg/client"
)

// A Configuration is one of the two packages by which a platform offers
// TMIComponents. Its value is its directory below package/configuration.
type Configuration string

const (
	// Claims is for teams that apply claims, behind which stand cluster-scoped
	// composites.
	Claims Configuration = "claim"
	// Namespaced is for teams that apply the composites themselves, which are
	// namespaced as of Crossplane v2.
	Namespaced Configuration = "namespaced"
)

// Options of a lab.
type Options struct {
	// Configuration that is installed.
	Configuration Configuration
	// Progress is told what is started and how long it took. May be nil.
	Progress io.Writer
	// CrossplaneFlags are added to those that Crossplane is started with.
	CrossplaneFlags []string
	// BeforeInstall is called when Kubernetes, Crossplane, KEDA and NATS run
	// and nothing of ours is installed yet. May be nil.
	BeforeInstall func(context.Context, *Lab) error
}

// A Lab is a running cluster.
type Lab struct {
	// Client of the cluster, which may do everything.
	Client client.WithWatch
	// Config to make other clients of the cluster with.
	Config *rest.Config
	// NATS is the server that holds the jobs.
	NATS *NATS
	// Function, Provider and Crossplane can be stopped and started again.
	Function, Provider, Crossplane *Process
	// FunctionMetrics is the URL of the function's metrics.
	FunctionMetrics string

	dir      string
	keep     bool
	progress io.Writer
	tools    tools
	ports    *ports
	users    users

	ca, frontProxyCA *certificateAuthority
	etcdURL          string
	registry         string // host:port
	clusterNames     string // URL of the proxy that knows cluster names

	mu    sync.Mutex
	stops []func() // undo what was started, in the order of starting
}

// Start puts a cluster up, installs the packages and waits until all is
// ready. When it fails, or its context ends, nothing is left running.
func Start(ctx context.Context, o Options) (_ *Lab, err error) {
	dir, err := os.MkdirTemp("", "tmi-lab-")
	if err != nil {
		return nil, err
	}
	if err := os.Mkdir(filepath.Join(dir, "logs"), 0o700); err != nil {
		return nil, err
	}
	l := &Lab{dir: dir, progress: o.Progress, ports: newPorts(), users: newUsers()}
	if l.progress == nil {
		l.progress = io.Discard
	}
	defer func() {
		if err != nil {
			if ctx.Err() == nil {
				l.Keep()
			}
			l.Stop()
			err = fmt.Errorf("cannot start the lab: %w", err)
		}
	}()
	if l.tools, err = findTools(); err != nil {
		return nil, err
	}
	if l.ca, err = newCertificateAuthority("lab"); err != nil {
		return nil, err
	}
	if l.frontProxyCA, err = newCertificateAuthority("front-proxy"); err != nil {
		return nil, err
	}
	begin := time.Now()
	if err := l.startAll(ctx, o); err != nil {
		return nil, err
	}
	l.say("ready after %.1fs: KUBECONFIG=%s", time.Since(begin).Seconds(), l.Kubeconfig())
	return l, nil
}

// startAll starts the parts, each as soon as what it needs is there.
func (l *Lab) startAll(ctx context.Context, o Options) error {
	c := o.Configuration
	var function, configuration, provider Package

	if err := together(ctx,
		l.startNATS,
		l.buildFunction,
		func(ctx context.Context) (err error) {
			if function, configuration, provider, err = l.packages(ctx, c); err != nil {
				return err
			}
			if err := l.startRegistry(ctx); err != nil {
				return err
			}
			return l.push(ctx, function, configuration, provider)
		},
		inOrder(
			l.startEtcd,
			l.startAPIServer,
		),
	); err != nil {
		return err
	}

	if err := together(ctx,
		l.startControllerManager,
		l.startScheduler,
		l.startKwok,
		func(ctx context.Context) error { return l.startCrossplane(ctx, o.CrossplaneFlags) },
		inOrder(l.startClusterNames, l.startKEDA),
	); err != nil {
		return err
	}

	if o.BeforeInstall != nil {
		if err := o.BeforeInstall(ctx, l); err != nil {
			return err
		}
	}

	// A person installs the Configuration and nothing else: Crossplane finds
	// the function and the provider that it depends on.
	if err := l.useRegistry(ctx, function, configuration, provider); err != nil {
		return err
	}
	if err := l.install(ctx, "tmicomponent", configuration); err != nil {
		return err
	}
	if err := together(ctx,
		func(ctx context.Context) error { return l.runFunction(ctx, function) },
		func(ctx context.Context) error { return l.runProvider(ctx, provider) },
	); err != nil {
		return err
	}
	if err := l.waitInstalled(ctx); err != nil {
		return err
	}
	l.say("packages are installed")
	if err := l.configureProvider(ctx, c); err != nil {
		return err
	}
	return l.waitOffered(ctx, c)
}

// waitOffered waits until teams can apply TMIComponents.
func (l *Lab) waitOffered(ctx context.Context, c Configuration) error {
	const xrd = "CompositeResourceDefinition"
	if c == Claims {
		return l.waitForCondition(ctx, "apiextensions.crossplane.io/v1", xrd, "xtmicomponents.tmi.dev", "Offered")
	}
	return l.waitForCondition(ctx, "apiextensions.crossplane.io/v2", xrd, "tmicomponents.tmi.dev", "Established")
}

// Stop stops every part, the last one first, and removes the directory, unless
// Keep was called.
func (l *Lab) Stop() {
	l.mu.Lock()
	stops := l.stops
	l.stops = nil
	l.mu.Unlock()
	for _, stop := range slices.Backward(stops) {
		stop()
	}
	if l.keep {
		l.say("logs are kept in %s", l.Logs())
		return
	}
	if err := os.RemoveAll(l.dir); err != nil {
		l.say("cannot remove %s: %v", l.dir, err)
	}
}

// Keep has Stop leave the lab's directory, with its logs, where it is.
func (l *Lab) Keep() { l.keep = true }

// Logs is the directory of the logs of all parts.
func (l *Lab) Logs() string { return l.path("logs") }

func (l *Lab) path(elements ...string) string {
	return filepath.Join(append([]string{l.dir}, elements...)...)
}

func (l *Lab) say(format string, args ...any) {
	fmt.Fprintf(l.progress, "lab: "+format+"\n", args...)
}

// start starts a part that runs as long as the lab.
func (l *Lab) start(ctx context.Context, c command) error {
	_, err := l.startProcess(ctx, c)
	return err
}

func (l *Lab) startProcess(ctx context.Context, c command) (*Process, error) {
	if err := l.tools.resolve(ctx, &c); err != nil {
		return nil, err
	}
	p := newProcess(l.Logs(), c)
	l.atStop(p.Stop)
	begin := time.Now()
	if err := p.Start(ctx); err != nil {
		return p, err
	}
	l.say("%-24s ready after %.1fs", c.name, time.Since(begin).Seconds())
	return p, nil
}

// run runs a program to its end.
func (l *Lab) run(ctx context.Context, c command) error {
	if err := l.tools.resolve(ctx, &c); err != nil {
		return err
	}
	return run(ctx, l.Logs(), c)
}

func (l *Lab) atStop(f func()) {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.stops = append(l.stops, f)
}

type step = func(context.Context) error

// together takes steps at the same time. The first that fails ends the others.
func together(ctx context.Context, steps ...step) error {
	group, ctx := errgroup.WithContext(ctx)
	for _, s := range steps {
		group.Go(func() error { return s(ctx) })
	}
	return group.Wait()
}

// inOrder makes one step of several.
func inOrder(steps ...step) step {
	return func(ctx context.Context) error {
		for _, s := range steps {
			if err := s(ctx); err != nil {
				return err
			}
		}
		return nil
	}
}
