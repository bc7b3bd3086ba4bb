package lab

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strconv"

	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/types"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/yaml"
)

// fieldOwner is who the lab is to server-side apply.
const fieldOwner = "lab"

// Apply creates an object or brings it to what is given, as `kubectl apply
// --server-side` does.
func (l *Lab) Apply(ctx context.Context, object map[string]any) error {
	u := &unstructured.Unstructured{Object: object}
	if err := l.Client.Apply(ctx, client.ApplyConfigurationFromUnstructured(u),
		client.FieldOwner(fieldOwner), client.ForceOwnership); err != nil {
		return fmt.Errorf("cannot apply %s %s: %w", u.GetKind(), u.GetName(), err)
	}
	return nil
}

// applyCRDs applies a directory of CustomResourceDefinitions and waits until
// their kinds are served.
func (l *Lab) applyCRDs(ctx context.Context, dir string) error {
	files, err := filepath.Glob(filepath.Join(dir, "*.yaml"))
	if err != nil {
		return err
	}
	if len(files) == 0 {
		return fmt.Errorf("there is no YAML in %s", dir)
	}
	var names []string
	for _, file := range files {
		b, err := os.ReadFile(file)
		if err != nil {
			return err
		}
		var object map[string]any
		if err := yaml.Unmarshal(b, &object); err != nil {
			return fmt.Errorf("%s: %w", file, err)
		}
		if err := l.Apply(ctx, object); err != nil {
			return err
		}
		names = append(names, (&unstructured.Unstructured{Object: object}).GetName())
	}
	for _, name := range names {
		if err := l.waitForCondition(ctx, "apiextensions.k8s.io/v1", "CustomResourceDefinition", name, "Established"); err != nil {
			return err
		}
	}
	return nil
}

// A StatusCondition is a condition of any object.
type StatusCondition struct{ Type, Status, Reason, Message string }

// String shows a condition in one line.
func (c StatusCondition) String() string {
	s := c.Type + "=" + c.Status
	if c.Reason != "" {
		s += " " + c.Reason
	}
	if c.Message != "" {
		s += ": " + c.Message
	}
	return s
}

// Conditions of an object, in its order.
func Conditions(u *unstructured.Unstructured) []StatusCondition {
	list, _, _ := unstructured.NestedSlice(u.Object, "status", "conditions")
	var conditions []StatusCondition
	for _, item := range list {
		m, ok := item.(map[string]any)
		if !ok {
			continue
		}
		text := func(key string) string { s, _ := m[key].(string); return s }
		conditions = append(conditions, StatusCondition{text("type"), text("status"), text("reason"), text("message")})
	}
	return conditions
}

// NoSuchCondition is the reason of a condition that an object does not have.
const NoSuchCondition = "NoSuchCondition"

// Condition of an object, of one type. Its status is Unknown if the object has
// none of that type.
func Condition(u *unstructured.Unstructured, conditionType string) StatusCondition {
	for _, c := range Conditions(u) {
		if c.Type == conditionType {
			return c
		}
	}
	return StatusCondition{Type: conditionType, Status: "Unknown", Reason: NoSuchCondition}
}

// Object is an empty object of a kind, to be read into.
func Object(apiVersion, kind string) *unstructured.Unstructured {
	u := &unstructured.Unstructured{}
	u.SetGroupVersionKind(schema.FromAPIVersionAndKind(apiVersion, kind))
	return u
}

// waitForCondition waits until a condition of a cluster-scoped object is true.
func (l *Lab) waitForCondition(ctx context.Context, apiVersion, kind, name, conditionType string) error {
	return l.eventually(ctx, func(ctx context.Context) error {
		u := Object(apiVersion, kind)
		if err := l.Client.Get(ctx, named("", name), u); err != nil {
			return err
		}
		if c := Condition(u, conditionType); c.Status != "True" {
			return fmt.Errorf("%s %s: %s", kind, name, c)
		}
		return nil
	})
}

// eventually is Eventually with a limit.
func (l *Lab) eventually(ctx context.Context, f func(context.Context) error) error {
	ctx, cancel := context.WithTimeoutCause(ctx, startTimeout, errors.New("after "+startTimeout.String()))
	defer cancel()
	return Eventually(ctx, f)
}

func named(namespace, name string) types.NamespacedName {
	return types.NamespacedName{Namespace: namespace, Name: name}
}

func port(p int) string { return strconv.Itoa(p) }
