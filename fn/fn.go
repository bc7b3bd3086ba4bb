// Package fn is the composition function. RunFunction reads the component from
// the composite resource, validates it, provisions its stream and consumer,
// renders its resources, and reports how they are.
package fn

import (
	"context"
	"fmt"
	"runtime/debug"
	"slices"

	"github.com/crossplane/function-sdk-go/logging"
	fnv1 "github.com/crossplane/function-sdk-go/proto/v1"

	"tmi.dev/function-tmicomponent/input/v1beta1"
	"tmi.dev/function-tmicomponent/nats"
)

// A Function composes the resources of TMIComponents.
type Function struct {
	fnv1.UnimplementedFunctionRunnerServiceServer

	log         logging.Logger
	provisioner StreamProvisioner
	nats        nats.Settings
	ttl         v1beta1.TTL

	allowedSubjects []string
}

// An Option configures a Function.
type Option func(*Function)

// WithLogger makes the function log. It does not by default.
func WithLogger(l logging.Logger) Option {
	return func(f *Function) { f.log = l }
}

// WithStreamProvisioner makes the function provision JetStream. Without, it
// renders and reports JetStream as not configured.
func WithStreamProvisioner(p StreamProvisioner) Option {
	return func(f *Function) { f.provisioner = p }
}

// WithDefaultNATS sets how NATS is reached where the Input does not say.
func WithDefaultNATS(s nats.Settings) Option {
	return func(f *Function) { f.nats = s }
}

// WithDefaultTTL sets the TTLs where the Input does not. Those that are nil
// keep the Input's own defaults.
func WithDefaultTTL(ttl v1beta1.TTL) Option {
	return func(f *Function) { f.ttl = ttl }
}

// WithAllowedSubjects sets patterns that every job subject must lie within,
// beside the Input's: whichever Composition a team chooses, these hold. All are
// allowed by default. See ValidateAllowedSubjects for what a pattern may be.
func WithAllowedSubjects(patterns []string) Option {
	return func(f *Function) { f.allowedSubjects = patterns }
}

// New returns a Function.
func New(opts ...Option) *Function {
	f := &Function{log: logging.NewNopLogger()}
	for _, o := range opts {
		o(f)
	}
	return f
}

// RunFunction answers one call of Crossplane. It never returns an error, which
// would lose every condition: what is wrong is a Fatal result, with which
// Crossplane applies nothing and what runs keeps running.
func (f *Function) RunFunction(ctx context.Context, req *fnv1.RunFunctionRequest) (rsp *fnv1.RunFunctionResponse, _ error) {
	rsp = respond(req)
	log := f.log.WithValues("tag", req.GetMeta().GetTag())
	defer func() {
		if p := recover(); p != nil {
			log.Info("RunFunction panicked", "panic", p, "stack", string(debug.Stack()))
			refuse(rsp, req, ReasonInternalError, fmt.Sprintf("function-tmicomponent has a fault, please report it: %v", p))
		}
	}()

	// Read who the component is and what the platform wants.
	in, inputErrs := ReadInput(req.GetInput(), f.ttl)
	component, specErrs := ReadComponent(req.GetObserved().GetComposite().GetResource(), in.TargetNamespace)
	settings, settingsErrs := natsSettings(&in.NATS, f.nats, req.GetCredentials())
	log = log.WithValues("namespace", component.Namespace, "name", component.Name)

	// Validate it all, and tell everything that is wrong at once.
	if errs := slices.Concat(inputErrs, settingsErrs, nameConflicts(req.GetDesired())); len(errs) > 0 {
		log.Info("Refused the Composition's pipeline step", "errors", sentence(errs))
		refuse(rsp, req, ReasonInvalidInput, "the Composition's pipeline step cannot be used: "+sentence(errs))
		return rsp, nil
	}
	if errs := withRules(specErrs, ValidateComponent(component, f.allowedSubjects, in.AllowedSubjects)); len(errs) > 0 {
		log.Debug("Refused the component", "errors", sentence(errs))
		refuse(rsp, req, ReasonInvalidSpec, sentence(errs))
		return rsp, nil
	}

	// Provision the stream and the consumer, before any worker.
	stream := f.provision(ctx, component, in, settings)
	log.Debug("Provisioned", "reason", stream.condition.Reason, "message", stream.condition.Message, "changes", stream.changes)

	// Render the resources.
	resources := render(component, in)

	// Report them, and how they are.
	report(rsp, req, component, in, stream, resources)
	return rsp, nil
}
