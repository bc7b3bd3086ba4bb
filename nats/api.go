package nats

import "fmt"

// An api knows the subjects of the JetStream API, by which a denied permission
// is told.
type api struct {
	prefix string
}

func apiOf(s Settings) api {
	if s.JetStreamDomain == "" {
		return api{prefix: "$JS.API."}
	}
	return api{prefix: fmt.Sprintf("$JS.%s.API.", s.JetStreamDomain)}
}

func (a api) streamInfo(stream string) string   { return a.prefix + "STREAM.INFO." + stream }
func (a api) streamCreate(stream string) string { return a.prefix + "STREAM.CREATE." + stream }
func (a api) streamUpdate(stream string) string { return a.prefix + "STREAM.UPDATE." + stream }
func (a api) streamNames() string               { return a.prefix + "STREAM.NAMES" }

func (a api) consumerInfo(stream, consumer string) string {
	return a.prefix + "CONSUMER.INFO." + stream + "." + consumer
}

// consumerCreate is for updates of a consumer, too.
func (a api) consumerCreate(stream, consumer string) string {
	return a.prefix + "CONSUMER.CREATE." + stream + "." + consumer
}
