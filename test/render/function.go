package render

import (
	"context"
	"os"
	"strings"
)

// A Function is this repository's function, running.
type Function struct {
	*process

	// Target that Crossplane calls it at.
	Target string
}

// StartFunction starts the function's program without TLS, as
// `crossplane composition render` wants it. Its NATS is natsURL, none if that
// is empty; the environment's is not used.
func StartFunction(ctx context.Context, program, natsURL string) (*Function, error) {
	return retryTakenPort(func() (*Function, error) {
		address, err := freeAddress()
		if err != nil {
			return nil, err
		}
		cmd := command(ctx, program, "--insecure", "--address="+address, "--metrics-address=")
		cmd.Env = withoutNATS(os.Environ())
		if natsURL != "" {
			cmd.Env = append(cmd.Env, "TMI_NATS_URL="+natsURL)
		}
		p, err := start(ctx, cmd, listens(ctx, address))
		if err != nil {
			return nil, err
		}
		return &Function{process: p, Target: address}, nil
	})
}

func withoutNATS(environ []string) []string {
	var kept []string
	for _, variable := range environ {
		if !strings.HasPrefix(variable, "TMI_NATS_") {
			kept = append(kept, variable)
		}
	}
	return kept
}
