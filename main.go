// function-tmicomponent is a Crossplane composition function that composes
// the workers of the TMI Component Platform and provisions their JetStream.
package main

import (
	"context"
	"fmt"
	"log/slog"
	"os"
	"os/signal"
	"syscall"
	"time"

	"github.com/alecthomas/kong"
	"github.com/crossplane/function-sdk-go/logging"
	"github.com/go-logr/logr"
	"github.com/prometheus/client_golang/prometheus"
	"github.com/prometheus/client_golang/prometheus/collectors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/util/validation/field"

	"tmi.dev/function-tmicomponent/fn"
	"tmi.dev/function-tmicomponent/input/v1beta1"
	"tmi.dev/function-tmicomponent/nats"
)

// drainTimeout is how long calls that are under way may take once the function
// is told to stop. It is above what a call takes by default, and below
// Kubernetes' grace period of 30 s.
const drainTimeout = 10 * time.Second

// allowedSubjectsEnv is the environment name of --allowed-subjects.
const allowedSubjectsEnv = "TMI_ALLOWED_SUBJECTS"

// CLI of the function. The environment names of NATS are (fixed): the old
// controller and the workers have the same.
type CLI struct {
	Debug bool `help:"Log what each call did, too." short:"d"`

	Network            string `default:"tcp" help:"Network on which to listen for gRPC connections."`
	Address            string `default:":9443" help:"Address at which to listen for gRPC connections."`
	TLSCertsDir        string `env:"TLS_SERVER_CERTS_DIR" help:"Folder with the server certificate (tls.key, tls.crt) and the CA that signs clients' (ca.crt)." name:"tls-server-certs-dir"`
	Insecure           bool   `help:"Serve without mTLS, for crossplane composition render. --tls-server-certs-dir is ignored."`
	MaxRecvMessageSize int    `default:"4" help:"Largest request that is received, in MiB."`
	MetricsAddress     string `default:":8080" help:"Address at which to serve Prometheus metrics; empty serves none."`

	NATSURL           string `env:"TMI_NATS_URL" help:"NATS servers, separated by commas, where the function's Input names none." name:"nats-url"`
	NATSTLSCAFile     string `env:"TMI_NATS_TLS_CA_FILE" help:"CA that signs the NATS servers' certificates, in PEM. The system's CAs are not trusted then." name:"nats-tls-ca-file"`
	NATSTLSCertFile   string `env:"TMI_NATS_TLS_CERT_FILE" help:"Client certificate for NATS, in PEM." name:"nats-tls-cert-file"`
	NATSTLSKeyFile    string `env:"TMI_NATS_TLS_KEY_FILE" help:"Key of the client certificate, in PEM." name:"nats-tls-key-file"`
	NATSTLSServerName string `env:"TMI_NATS_TLS_SERVER_NAME" help:"Name that the NATS servers' certificates must bear, if not the URL's host." name:"nats-tls-server-name"`
	NATSCreds         string `env:"TMI_NATS_CREDS" help:"NATS credentials file (.creds)." name:"nats-creds"`

	AllowedSubjects []string `env:"TMI_ALLOWED_SUBJECTS" help:"Patterns that every job subject must lie within, whichever Composition a component uses; {namespace} and {name} stand for the component's. The Input's allowedSubjects can only narrow them. Any subject by default." placeholder:"jobs.{namespace}.>"`

	TTLSteady     time.Duration `default:"${ttl_steady}" help:"When Crossplane is to call again for a component that is as it should be, where the Input does not say." name:"ttl-steady"`
	TTLConverging time.Duration `default:"${ttl_converging}" help:"The same for a component on its way there." name:"ttl-converging"`
}

// Validate what kong cannot: the files are read, so that one that cannot be is
// an error now and not in the first call.
func (c *CLI) Validate() error {
	if c.MaxRecvMessageSize < 1 {
		return fmt.Errorf("--max-recv-message-size must be at least 1 (MiB), not %d", c.MaxRecvMessageSize)
	}
	if c.MetricsAddress != "" && c.MetricsAddress == c.Address {
		return fmt.Errorf("--metrics-address must not be --address (%s)", c.Address)
	}
	if min(c.TTLSteady, c.TTLConverging) < fn.MinTTL || max(c.TTLSteady, c.TTLConverging) > fn.MaxTTL {
		return fmt.Errorf("--ttl-steady and --ttl-converging must be %s to %s", fn.MinTTL, fn.MaxTTL)
	}
	if patterns, set := os.LookupEnv(allowedSubjectsEnv); set && patterns == "" && len(c.AllowedSubjects) == 0 {
		return fmt.Errorf("%s is set but empty, which would allow any subject; unset it if that is meant, or set it to a pattern such as jobs.{namespace}.>", allowedSubjectsEnv)
	}
	if errs := fn.ValidateAllowedSubjects(c.AllowedSubjects, field.NewPath("--allowed-subjects")); len(errs) > 0 {
		return errs.ToAggregate()
	}
	for _, f := range []struct{ flag, path string }{
		{"--nats-tls-ca-file", c.NATSTLSCAFile},
		{"--nats-tls-cert-file", c.NATSTLSCertFile},
		{"--nats-tls-key-file", c.NATSTLSKeyFile},
		{"--nats-creds", c.NATSCreds},
	} {
		if f.path == "" {
			continue
		}
		if _, err := os.ReadFile(f.path); err != nil {
			return fmt.Errorf("%s cannot be read: %w", f.flag, err)
		}
	}
	if err := c.settings().CheckFiles(); err != nil {
		return fmt.Errorf("the NATS flags or environment cannot be used: %w", err)
	}
	if c.NATSURL == "" {
		return nil
	}
	if err := c.settings().Validate(); err != nil {
		return fmt.Errorf("the NATS flags or environment cannot be used: %w", err)
	}
	return nil
}

func (c *CLI) settings() nats.Settings {
	return nats.Settings{
		URL:           c.NATSURL,
		TLSServerName: c.NATSTLSServerName,
		CAFile:        c.NATSTLSCAFile,
		CertFile:      c.NATSTLSCertFile,
		KeyFile:       c.NATSTLSKeyFile,
		CredsFile:     c.NATSCreds,
	}
}

// Run serves the function until ctx ends, and then finishes the calls that are
// under way.
func (c *CLI) Run(ctx context.Context) error {
	if !c.Insecure && c.TLSCertsDir == "" {
		return fmt.Errorf("give --tls-server-certs-dir (or TLS_SERVER_CERTS_DIR), or --insecure for crossplane composition render")
	}
	level := slog.LevelInfo
	if c.Debug {
		level = slog.LevelDebug
	}
	handler := slog.NewJSONHandler(os.Stderr, &slog.HandlerOptions{Level: level, ReplaceAttr: knownLevels})
	log := logging.NewLogrLogger(logr.FromSlogHandler(handler))
	if c.NATSURL == "" {
		log.Info("No NATS is configured by --nats-url or TMI_NATS_URL: JetStream is provisioned only where the function's Input names a server")
	}

	credentials, err := transportCredentials(c.TLSCertsDir, c.Insecure)
	if err != nil {
		return err
	}
	registry := prometheus.NewRegistry()
	registry.MustRegister(collectors.NewGoCollector(), collectors.NewProcessCollector(collectors.ProcessCollectorOpts{}))
	provisioner := nats.NewProvisioner(nats.WithLogger(slog.New(handler)), nats.WithMetrics(registry))
	defer provisioner.Close()

	s := &server{
		function: fn.New(
			fn.WithLogger(log),
			fn.WithStreamProvisioner(provisioner),
			fn.WithDefaultNATS(c.settings()),
			fn.WithAllowedSubjects(c.AllowedSubjects),
			fn.WithDefaultTTL(v1beta1.TTL{
				Steady:     &metav1.Duration{Duration: c.TTLSteady},
				Converging: &metav1.Duration{Duration: c.TTLConverging},
			}),
		),
		network:            c.Network,
		address:            c.Address,
		credentials:        credentials,
		maxRecvMessageSize: c.MaxRecvMessageSize * 1024 * 1024,
		registry:           registry,
		metricsAddress:     c.MetricsAddress,
		drainTimeout:       drainTimeout,
		log:                log,
	}
	return s.serve(ctx)
}

// knownLevels writes the level that logr gives to debug messages, one below
// info, as what it is.
func knownLevels(groups []string, a slog.Attr) slog.Attr {
	if level, is := a.Value.Any().(slog.Level); is && len(groups) == 0 && a.Key == slog.LevelKey && level > slog.LevelDebug && level < slog.LevelInfo {
		return slog.Any(slog.LevelKey, slog.LevelDebug)
	}
	return a
}

func main() {
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
	defer stop()

	cli := kong.Parse(&CLI{},
		kong.Name("function-tmicomponent"),
		kong.Description("A Crossplane composition function for the workers of the TMI Component Platform."),
		kong.Vars{
			"ttl_steady":     v1beta1.DefaultSteadyTTL.String(),
			"ttl_converging": v1beta1.DefaultConvergingTTL.String(),
		},
	)
	cli.BindTo(ctx, (*context.Context)(nil))
	cli.FatalIfErrorf(cli.Run())
}
