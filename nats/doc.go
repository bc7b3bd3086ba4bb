// Package nats makes sure that a component's JetStream stream and durable
// consumer exist, with no more than two requests and no write where they
// already do. It knows nothing of Crossplane.
//
// It never deletes, purges or recreates anything: queued jobs outlive whatever
// happens to the component.
package nats
