//go:build race

package sessionstore_test

// raceDetector makes a child process several times as slow.
const raceDetector = true
