package nats

import (
	"context"
	"encoding/json"
	"errors"
	"maps"

	"github.com/nats-io/nats.go/jetstream"
)

// An update replaces the whole config on the server, so it must hold all that
// was there. It is therefore read, changed and written as JSON: the config
// types of nats.go would drop what a newer server knows and they do not.

// A rawConfig is a config as the server has it.
type rawConfig map[string]json.RawMessage

// apply makes the changes of a patch.
func (c rawConfig) apply(p patch) error {
	for field, value := range p.set {
		raw, err := json.Marshal(value)
		if err != nil {
			return err
		}
		c[field] = raw
	}
	for _, field := range p.unset {
		delete(c, field)
	}
	metadata := map[string]string{}
	if raw, ok := c["metadata"]; ok {
		if err := json.Unmarshal(raw, &metadata); err != nil {
			return err
		}
	}
	if metadata == nil {
		metadata = map[string]string{}
	}
	maps.Copy(metadata, p.metadata)
	raw, err := json.Marshal(metadata)
	if err != nil {
		return err
	}
	c["metadata"] = raw
	return nil
}

// decode returns the config as one of nats.go's types.
func decode[C any](c rawConfig) (*C, error) {
	raw, err := json.Marshal(c)
	if err != nil {
		return nil, err
	}
	typed := new(C)
	return typed, json.Unmarshal(raw, typed)
}

// A rawAnswer is the part of every answer that is of interest here.
type rawAnswer struct {
	Error  *jetstream.APIError `json:"error"`
	Config rawConfig           `json:"config"`
}

var errNoConfig = errors.New("the answer holds no config")

// exchange sends a request of the JetStream API on its subject and returns the
// config in the answer.
func exchange(ctx context.Context, c *connection, subject string, body any) (rawConfig, error) {
	var payload []byte
	if body != nil {
		var err error
		if payload, err = json.Marshal(body); err != nil {
			return nil, err
		}
	}
	return ask(ctx, c, subject, func(ctx context.Context, js jetstream.JetStream) (rawConfig, error) {
		msg, err := js.Conn().RequestWithContext(ctx, subject, payload)
		if err != nil {
			return nil, err
		}
		var answer rawAnswer
		if err := json.Unmarshal(msg.Data, &answer); err != nil {
			return nil, err
		}
		switch {
		case answer.Error != nil:
			return nil, answer.Error
		case answer.Config == nil:
			return nil, errNoConfig
		}
		return answer.Config, nil
	})
}

// updateStream reads the stream's config again, and writes it with the changes
// that it needs by then. It returns what those were, if any.
func updateStream(ctx context.Context, c *connection, a api, r Request) (verdict, error) {
	name := StreamName(r.Component.Name)
	config, err := exchange(ctx, c, a.streamInfo(name), nil)
	if err != nil {
		return verdict{}, err
	}
	found, err := decode[jetstream.StreamConfig](config)
	if err != nil {
		return verdict{}, err
	}
	v := judgeStream(found, r)
	if v.action != update {
		return v, nil
	}
	if err := config.apply(v.patch); err != nil {
		return verdict{}, err
	}
	_, err = exchange(ctx, c, a.streamUpdate(name), config)
	return v, err
}

// updateConsumer does the same for the consumer.
func updateConsumer(ctx context.Context, c *connection, a api, r Request) (verdict, error) {
	stream, name := StreamName(r.Component.Name), ConsumerName(r.Component.Name)
	config, err := exchange(ctx, c, a.consumerInfo(stream, name), nil)
	if err != nil {
		return verdict{}, err
	}
	found, err := decode[jetstream.ConsumerConfig](config)
	if err != nil {
		return verdict{}, err
	}
	v := judgeConsumer(found, r)
	if v.action != update {
		return v, nil
	}
	if err := config.apply(v.patch); err != nil {
		return verdict{}, err
	}
	// With this action the server refuses to create a consumer.
	_, err = exchange(ctx, c, a.consumerCreate(stream, name), map[string]any{
		"stream_name": stream,
		"config":      config,
		"action":      "update",
	})
	return v, err
}
