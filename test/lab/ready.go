package lab

import (
	"context"
	"crypto/tls"
	"fmt"
	"io"
	"net"
	"net/http"
	"strings"
)

// serves is a readiness check: the URL answers with success.
func serves(url string) func(context.Context) error {
	return answers(http.DefaultClient, url)
}

// servesTLS is the same for a part that makes its own certificate.
func servesTLS(address, path string) func(context.Context) error {
	insecure := &http.Client{Transport: &http.Transport{
		TLSClientConfig: &tls.Config{InsecureSkipVerify: true}, //nolint:gosec // Only asked whether it is up.
	}}
	return answers(insecure, "https://"+address+path)
}

func answers(c *http.Client, url string) func(context.Context) error {
	return func(ctx context.Context) error {
		req, err := http.NewRequestWithContext(ctx, http.MethodGet, url, nil)
		if err != nil {
			return err
		}
		resp, err := c.Do(req)
		if err != nil {
			return err
		}
		defer resp.Body.Close()
		body, _ := io.ReadAll(io.LimitReader(resp.Body, 2000))
		if resp.StatusCode != http.StatusOK {
			return fmt.Errorf("%s: %s: %s", url, resp.Status, strings.TrimSpace(string(body)))
		}
		return nil
	}
}

// listens is a readiness check for what speaks no HTTP: the port is open.
func listens(address string) func(context.Context) error {
	return func(ctx context.Context) error {
		conn, err := new(net.Dialer).DialContext(ctx, "tcp", address)
		if err != nil {
			return err
		}
		return conn.Close()
	}
}

func portFlag(name string, port int) string { return fmt.Sprintf("%s=%d", name, port) }
