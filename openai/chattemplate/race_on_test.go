//go:build race

package chattemplate

const raceEnabled = true // the detector slows Go code alone
