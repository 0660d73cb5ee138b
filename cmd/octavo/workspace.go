package main

import (
	"fmt"
	"os"
	"path/filepath"
)

// findWorkspace answers the folder to work in, absolute with links resolved: what was asked for, else the nearest folder upwards
// that has a .git, else where octavo was started.
func findWorkspace(asked, dir string) (string, error) {
	if asked != "" {
		abs, err := filepath.Abs(asked)
		if err != nil {
			return "", err
		}
		real, err := filepath.EvalSymlinks(abs)
		if err != nil {
			return "", fmt.Errorf("--workspace %s: %w", asked, err)
		}
		if info, err := os.Stat(real); err != nil || !info.IsDir() {
			return "", fmt.Errorf("--workspace %s is not a folder", asked)
		}
		return real, nil
	}
	for at := dir; ; at = filepath.Dir(at) {
		if _, err := os.Lstat(filepath.Join(at, ".git")); err == nil {
			return at, nil
		}
		if at == filepath.Dir(at) {
			return dir, nil
		}
	}
}

// startDir is where octavo was started, with links resolved.
func startDir() (string, error) {
	dir, err := os.Getwd()
	if err != nil {
		return "", fmt.Errorf("the current folder cannot be told: %w", err)
	}
	return filepath.EvalSymlinks(dir)
}
