package main

import (
	"archive/tar"
	"bytes"
	"io"
	"os"

	"github.com/google/go-containerregistry/pkg/name"
	v1 "github.com/google/go-containerregistry/pkg/v1"
	"github.com/google/go-containerregistry/pkg/v1/empty"
	"github.com/google/go-containerregistry/pkg/v1/mutate"
	"github.com/google/go-containerregistry/pkg/v1/tarball"
)

// nonRoot is the user that the function runs as, the same as in the Dockerfile.
const nonRoot = "65532:65532"

// writeRuntimeImage writes the image that the function runs in: its program
// and the certificates of the public CAs, on nothing. Times are left at zero,
// so that the same program gives the same image.
func writeRuntimeImage(path, program, arch string) error {
	content, err := os.ReadFile(program)
	if err != nil {
		return err
	}
	layer, err := layerOf(
		file{name: "etc/ssl/certs/ca-certificates.crt", mode: 0o644, content: publicCAs()},
		file{name: "function", mode: 0o755, content: content},
	)
	if err != nil {
		return err
	}
	image, err := mutate.AppendLayers(empty.Image, layer)
	if err != nil {
		return err
	}
	image, err = mutate.ConfigFile(image, configFor(image, arch))
	if err != nil {
		return err
	}
	// The tag is part of the format, and nobody sees it.
	tag, err := name.NewTag("function-tmicomponent:runtime")
	if err != nil {
		return err
	}
	return tarball.WriteToFile(path, tag, image)
}

func configFor(image v1.Image, arch string) *v1.ConfigFile {
	config, err := image.ConfigFile()
	if err != nil {
		panic(err) // not for an image made in memory
	}
	config = config.DeepCopy()
	config.OS = "linux"
	config.Architecture = arch
	config.Config = v1.Config{
		Entrypoint:   []string{"/function"},
		User:         nonRoot,
		ExposedPorts: map[string]struct{}{"9443": {}},
	}
	return config
}

// A file in a layer.
type file struct {
	name    string
	mode    int64
	content []byte
}

func layerOf(files ...file) (v1.Layer, error) {
	archive := &bytes.Buffer{}
	w := tar.NewWriter(archive)
	for _, f := range files {
		header := &tar.Header{Name: f.name, Mode: f.mode, Size: int64(len(f.content))}
		if err := w.WriteHeader(header); err != nil {
			return nil, err
		}
		if _, err := w.Write(f.content); err != nil {
			return nil, err
		}
	}
	if err := w.Close(); err != nil {
		return nil, err
	}
	return tarball.LayerFromOpener(func() (io.ReadCloser, error) {
		return io.NopCloser(bytes.NewReader(archive.Bytes())), nil
	})
}
