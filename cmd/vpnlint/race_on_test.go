//go:build race

package main

// raceDetector: the tests, and the program under them, are built with -race.
const raceDetector = true
