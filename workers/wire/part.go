package wire

import (
	"encoding/binary"
	"math"
	"unicode/utf8"

	"google.golang.org/protobuf/encoding/protowire"
)

// part is one GenerateResponse. Its slices are kept from message to message.
type part struct {
	layout   *Layout
	kind     uint64 // layout.chunk, layout.complete or 0: neither
	tokens   []uint32
	numbers  [SpecDraft + 1]uint64
	finish   string
	stop     string
	hasToken bool
	output   logprobs
	input    logprobs
}

// reset forgets the message before, but keeps its memory.
func (p *part) reset(kind uint64) {
	p.kind = kind
	p.tokens = p.tokens[:0]
	clear(p.numbers[:])
	p.finish, p.stop, p.hasToken = "", "", false
	p.output.reset()
	p.input.reset()
}

// decode reads one message. Fields that it does not know are skipped, as protobuf asks.
func (p *part) decode(b []byte) error {
	p.reset(0)
	for len(b) > 0 {
		number, kind, value, rest, err := next(b)
		if err != nil {
			return err
		}
		b = rest
		isPart := number == p.layout.chunk || number == p.layout.complete
		if !isPart || kind != protowire.BytesType {
			continue
		}
		if p.kind != number {
			p.reset(number)
		}
		if err := p.decodePart(value.bytes); err != nil {
			return err
		}
	}
	return nil
}

// decodePart reads a chunk or a complete message. Given twice, as protobuf allows, the second adds to the first.
func (p *part) decodePart(b []byte) error {
	fields := p.layout.chunkFields
	if p.kind == p.layout.complete {
		fields = p.layout.completeFields
	}
	for len(b) > 0 {
		number, kind, value, rest, err := next(b)
		if err != nil {
			return err
		}
		b = rest
		if number >= uint64(len(fields)) {
			continue
		}
		if err := p.set(fields[number], kind, value); err != nil {
			return err
		}
	}
	return nil
}

// set takes in one field. One that comes in another wire type than it should counts as unknown, as protobuf has it.
func (p *part) set(field Field, kind protowire.Type, v value) (err error) {
	wants := protowire.VarintType
	switch field {
	case OutputLogprobs, InputLogprobs, FinishReason, MatchedStop:
		wants = protowire.BytesType
	case Tokens:
		wants = kind // packed or not
	}
	if field == skipped || kind != wants {
		return nil // not a field that we know, to protobuf's mind
	}
	switch field {
	case Tokens:
		p.tokens, err = appendUint32s(p.tokens, kind, v)
	case OutputLogprobs:
		err = p.output.decode(v.bytes, false)
	case InputLogprobs:
		err = p.input.decode(v.bytes, true)
	case FinishReason:
		p.finish, err = text(v.bytes)
	case MatchedStop:
		p.stop, err = text(v.bytes)
		p.hasToken = false
	case MatchedToken:
		p.hasToken, p.stop = true, ""
		p.numbers[field] = v.number
	default:
		p.numbers[field] = v.number
	}
	return err
}

// count reads a counter; a value beyond an int32 can only be damage.
func (p *part) count(field Field) int { return int(min(p.numbers[field], math.MaxInt32)) }

// value is a field's content: number for varint and fixed types, bytes for the length-delimited.
type value struct {
	number uint64
	bytes  []byte
}

// next splits the first field off b.
func next(b []byte) (number uint64, kind protowire.Type, v value, rest []byte, err error) {
	tag, n := uvarint(b)
	if n <= 0 || tag>>3 == 0 || tag>>3 > uint64(protowire.MaxValidNumber) {
		return 0, 0, v, nil, malformed("bad field tag")
	}
	b = b[n:]
	kind = protowire.Type(tag & 7)
	switch kind {
	case protowire.VarintType:
		v.number, n = uvarint(b)
	case protowire.BytesType:
		v.bytes, n = protowire.ConsumeBytes(b)
	case protowire.Fixed32Type:
		if n = 4; len(b) >= n {
			v.number = uint64(binary.LittleEndian.Uint32(b))
		}
	case protowire.Fixed64Type:
		if n = 8; len(b) >= n {
			v.number = binary.LittleEndian.Uint64(b)
		}
	default:
		n = protowire.ConsumeFieldValue(protowire.Number(tag>>3), kind, b)
	}
	if n <= 0 || n > len(b) {
		return 0, 0, v, nil, malformed("truncated field")
	}
	return tag >> 3, kind, v, b[n:], nil
}

// uvarint is binary.Uvarint with the one-byte case in line: nearly every varint of an answer is short.
func uvarint(b []byte) (uint64, int) {
	if len(b) > 0 && b[0] < 0x80 {
		return uint64(b[0]), 1
	}
	return binary.Uvarint(b)
}

// appendUint32s reads a repeated uint32, packed or not.
func appendUint32s(dst []uint32, kind protowire.Type, v value) ([]uint32, error) {
	if kind == protowire.VarintType {
		return append(dst, uint32(v.number)), nil
	}
	if kind != protowire.BytesType {
		return dst, nil
	}
	for b := v.bytes; len(b) > 0; {
		id, n := uvarint(b)
		if n <= 0 {
			return dst, malformed("truncated token ids")
		}
		dst, b = append(dst, uint32(id)), b[n:]
	}
	return dst, nil
}

// text copies a string field; the reasons that every answer ends with cost no copy.
func text(b []byte) (string, error) {
	switch string(b) {
	case "stop":
		return "stop", nil
	case "length":
		return "length", nil
	}
	if !utf8.Valid(b) {
		return "", malformed("text that is not UTF-8")
	}
	return string(b), nil
}
