//go:build race

package routing

const raced = true
