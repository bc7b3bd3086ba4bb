package render

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"os/exec"
	"regexp"
	"slices"
	"strings"
)

// Crossplane renders with the real Crossplane: its CLI and its core.
type Crossplane struct {
	cli  string
	core string
}

// NewCrossplane finds the pinned Crossplane.
func NewCrossplane(ctx context.Context, r Repository) (c Crossplane, err error) {
	if c.cli, err = r.tool(ctx, crossplaneCLI); err != nil {
		return c, err
	}
	c.core, err = r.tool(ctx, crossplaneCore)
	return c, err
}

// A RefusedError is Crossplane's or the function's refusal to render.
type RefusedError struct {
	Message string
}

func (e *RefusedError) Error() string { return e.Message }

// FunctionErrors returns what the function found wrong, one by one and without
// all that Crossplane wrapped around it; nothing if it was not the function
// that refused.
func (e *RefusedError) FunctionErrors() []string {
	_, message, found := strings.Cut(e.Message, "returned a fatal result: ")
	if !found {
		return nil
	}
	var errs []string
	start := 0
	for _, next := range nextError.FindAllStringIndex(message, -1) {
		errs = append(errs, message[start:next[0]])
		start = next[0] + len("; ")
	}
	return append(errs, message[start:])
}

// nextError is where the function's message goes on to another field, or to
// saying that there are more. A semicolon alone can be within an error.
var nextError = regexp.MustCompile(`; (?:and more$|[A-Za-z](?:[\w.-]|\[[^\]]*\])*: (?:` +
	`Not found|Required value|Duplicate value|Invalid value|Unsupported value|Forbidden|Too long|Too many|Too few|Too short|Internal error)\b)`)

// A Pipeline is what a composite is rendered with.
type Pipeline struct {
	Definition  string // the composite's CompositeResourceDefinition
	Composition string
	Functions   string
	Target      string // that all functions are at
}

// Render runs `crossplane composition render` and returns what it printed: the
// composite, the composed resources and the functions' results, in YAML.
func (c Crossplane) Render(ctx context.Context, composite string, p Pipeline) (string, error) {
	out, err := c.run(ctx, "composition", "render", composite, p.Composition, p.Functions,
		"--crossplane-binary="+c.core,
		// For the schema's defaults, and for what Crossplane keeps in the
		// composite, which depends on its scope.
		"--xrd="+p.Definition,
		"--include-function-results",
		"--include-full-xr",
		"--function-annotations=render.crossplane.io/runtime=Development",
		"--function-annotations=render.crossplane.io/runtime-development-target="+p.Target,
	)
	return sortResults(out), err
}

const documentStart = "---\n"

// sortResults puts the results at the end of rendered YAML in order. Crossplane
// tells of composed resources in the order of a map, another one each time.
func sortResults(rendered string) string {
	var resources, results []string
	for document := range strings.SplitSeq(rendered, documentStart) {
		if isResult(document) {
			results = append(results, document)
		} else {
			resources = append(resources, document)
		}
	}
	slices.Sort(results)
	return strings.Join(append(resources, results...), documentStart)
}

// isResult tells a result, which is of the CLI's own kind, from a resource.
func isResult(document string) bool { return strings.Contains(document, "\nkind: Result\n") }

// WriteCompositeOf runs `crossplane xr generate`: it writes to path the
// composite that Crossplane would make for the claim of the given name.
func (c Crossplane) WriteCompositeOf(ctx context.Context, claim, name, path string) error {
	_, err := c.run(ctx, "xr", "generate", claim, "--name="+CompositeName(name), "--output-file="+path)
	return err
}

// Validate runs `crossplane resource validate`: it holds resources against the
// definitions in extensions, a list of files and folders.
func (c Crossplane) Validate(ctx context.Context, extensions []string, resources, cacheDir string) error {
	_, err := c.run(ctx, "resource", "validate", strings.Join(extensions, ","), resources,
		"--error-on-missing-schemas",
		"--cache-dir="+cacheDir,
		// No image, so that nothing is fetched.
		"--crossplane-image=")
	return err
}

func (c Crossplane) run(ctx context.Context, args ...string) (string, error) {
	cmd := command(ctx, c.cli, args...)
	var stdout, stderr bytes.Buffer
	cmd.Stdout, cmd.Stderr = &stdout, &stderr
	err := cmd.Run()
	if ctx.Err() != nil {
		return "", context.Cause(ctx)
	}
	if exit, ok := errors.AsType[*exec.ExitError](err); ok && exit.ExitCode() == 1 {
		return "", &RefusedError{Message: strings.TrimSpace(stdout.String() + stderr.String())}
	}
	if err != nil {
		return "", fmt.Errorf("%s %s: %w\n%s", c.cli, strings.Join(args, " "), err, stderr.String())
	}
	return stdout.String(), nil
}
