package workers

import (
	"testing"

	"leeway/routing/prefix"
	"leeway/workers/engine"
)

// row 9, cases D5 and D6
func TestWhatAPlainPromptCannotUseIsNotPlain(t *testing.T) {
	one, two := int64(1), int32(2)
	for name, x := range map[string]struct {
		change  func(*engine.Stored, *engine.Block)
		plain   bool
		further bool // from the device
	}{
		"nothing said":    {func(*engine.Stored, *engine.Block) {}, true, false},
		"an adapter":      {func(s *engine.Stored, _ *engine.Block) { s.LoRAName = "a" }, false, false},
		"a salt":          {func(s *engine.Stored, _ *engine.Block) { s.CacheSalt = "a" }, false, false},
		"an adapter's id": {func(_ *engine.Stored, b *engine.Block) { b.LoRAID = &one }, false, false},
		"an image":        {func(_ *engine.Stored, b *engine.Block) { b.ExtraKeys = true }, false, false},
		"a block's level": {func(_ *engine.Stored, b *engine.Block) { b.Level = &two }, true, true},
	} {
		stored := engine.Stored{Blocks: []engine.Block{{Hash: 1, Tokens: []uint32{1}}}}
		x.change(&stored, &stored.Blocks[0])
		b := toPrefix(&engine.Batch{Events: []engine.Event{{Stored: &stored}}})
		e := b.Events[0]
		if plain := !e.Foreign && !e.Blocks[0].Foreign; plain != x.plain || e.Blocks[0].Level > 0 != x.further {
			t.Errorf("%s: plain %t, level %d", name, plain, e.Blocks[0].Level)
		}
	}
	for level, want := range []prefix.Tier{prefix.Device, prefix.Host, prefix.Disk, prefix.External, prefix.External} {
		far := int32(level)
		if got := place(&engine.Place{Level: &far}); got.Tier != want {
			t.Errorf("level %d: tier %d", level, got.Tier)
		}
	}
	group := uint32(3)
	got := place(&engine.Place{Tier: 2, Medium: "CPU", Group: &group, GroupKind: "mamba", Remote: true, Ownership: "kvcr"})
	if want := (prefix.Place{Tier: prefix.Host, Medium: "CPU", Group: 3, GroupKind: "mamba", Remote: true, Owner: "kvcr"}); got != want {
		t.Errorf("%+v", got)
	}
}
