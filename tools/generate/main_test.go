package main

import (
	"strings"
	"testing"
)

func TestCompareFindsStaleFiles(t *testing.T) {
	root := t.TempDir()
	if err := write(root, files{"a/fresh.yaml": []byte("1"), "a/stale.yaml": []byte("1")}); err != nil {
		t.Fatal(err)
	}
	if err := compare(root, files{"a/fresh.yaml": []byte("1")}); err != nil {
		t.Errorf("a fresh file is found stale: %v", err)
	}
	err := compare(root, files{
		"a/fresh.yaml":   []byte("1"),
		"a/missing.yaml": []byte("1"),
		"a/stale.yaml":   []byte("2"),
	})
	if err == nil || !strings.Contains(err.Error(), "[a/missing.yaml a/stale.yaml]") {
		t.Errorf("want the missing and the stale file named, got: %v", err)
	}
}
