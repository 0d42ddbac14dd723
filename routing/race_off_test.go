//go:build !race

package routing

const raced = false
