//go:build !race

package sessionstore_test

const raceDetector = false
