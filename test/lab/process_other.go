//go:build !linux

package lab

import "syscall"

// processGroup gives a child a process group of its own.
func processGroup() *syscall.SysProcAttr {
	return &syscall.SysProcAttr{Setpgid: true}
}
