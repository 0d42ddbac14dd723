// Command wire holds our protobuf messages against the published ones. `wire emit` prints our file descriptors and,
// for every message, filled-in samples as JSON lines; wire.py reads them with the published package and answers
// with bytes of its own, which `wire check` reads back field for field.
package main

import (
	"bufio"
	"bytes"
	"encoding/json"
	"fmt"
	"io"
	"os"
	"strings"

	"google.golang.org/protobuf/encoding/protojson"
	"google.golang.org/protobuf/proto"
	"google.golang.org/protobuf/reflect/protodesc"
	"google.golang.org/protobuf/reflect/protoreflect"
	"google.golang.org/protobuf/reflect/protoregistry"
	"google.golang.org/protobuf/types/descriptorpb"
	"google.golang.org/protobuf/types/known/structpb"
	"google.golang.org/protobuf/types/known/timestamppb"

	_ "leeway/workers/enginepb/commonpb"
	_ "leeway/workers/enginepb/sglangpb"
	_ "leeway/workers/enginepb/tokenspeedpb"
	_ "leeway/workers/enginepb/vllmpb"
)

// line is one sample: a message's name, its bytes and the same as protobuf JSON with the .proto's field names.
type line struct {
	Message string          `json:"message,omitempty"`
	Bytes   []byte          `json:"bytes,omitempty"`
	JSON    json.RawMessage `json:"json,omitempty"`
	Files   []byte          `json:"files,omitempty"`
}

func main() {
	run := map[string]func(io.Reader, io.Writer) error{"emit": emit, "check": check}
	if len(os.Args) != 2 || run[os.Args[1]] == nil {
		fmt.Fprintln(os.Stderr, "usage: wire emit | wire check")
		os.Exit(2)
	}
	if err := run[os.Args[1]](os.Stdin, os.Stdout); err != nil {
		fmt.Fprintln(os.Stderr, "wire:", err)
		os.Exit(1)
	}
}

func ours() (files []protoreflect.FileDescriptor) {
	protoregistry.GlobalFiles.RangeFiles(func(file protoreflect.FileDescriptor) bool {
		if strings.Contains(string(file.Package()), "grpc") && !strings.HasPrefix(string(file.Package()), "grpc.") {
			files = append(files, file)
		}
		return true
	})
	return files
}

func emit(_ io.Reader, w io.Writer) error {
	out := json.NewEncoder(w)
	var set descriptorpb.FileDescriptorSet
	for _, file := range ours() {
		set.File = append(set.File, protodesc.ToFileDescriptorProto(file))
	}
	encoded, err := proto.Marshal(&set)
	if err != nil {
		return err
	}
	if err := out.Encode(line{Files: encoded}); err != nil {
		return err
	}
	for _, file := range ours() {
		for i := range file.Messages().Len() {
			desc := file.Messages().Get(i)
			for variant := range 1 + widestOneof(desc) {
				if err := emitSample(out, desc, variant); err != nil {
					return fmt.Errorf("%s: %w", desc.FullName(), err)
				}
			}
		}
	}
	return nil
}

func emitSample(out *json.Encoder, desc protoreflect.MessageDescriptor, variant int) error {
	kind, err := protoregistry.GlobalTypes.FindMessageByName(desc.FullName())
	if err != nil {
		return err
	}
	message := kind.New()
	fill(message, variant, 3)
	encoded, err := proto.Marshal(message.Interface())
	if err != nil {
		return err
	}
	text, err := asJSON(message.Interface())
	if err != nil {
		return err
	}
	return out.Encode(line{Message: string(desc.FullName()), Bytes: encoded, JSON: text})
}

func widestOneof(desc protoreflect.MessageDescriptor) (widest int) {
	for i := range desc.Oneofs().Len() {
		widest = max(widest, desc.Oneofs().Get(i).Fields().Len()-1)
	}
	return widest
}

// fill sets every field to a value of its own; of a oneof, the member that variant picks.
func fill(message protoreflect.Message, variant, depth int) {
	if known := wellKnown(message.Descriptor().FullName()); known != nil {
		proto.Merge(message.Interface(), known)
		return
	}
	fields := message.Descriptor().Fields()
	for i := range fields.Len() {
		field := fields.Get(i)
		oneof := field.ContainingOneof()
		if oneof != nil && !oneof.IsSynthetic() && oneof.Fields().Get(variant%oneof.Fields().Len()) != field {
			continue
		}
		switch {
		case field.IsMap():
			entry := message.Mutable(field).Map()
			entry.Set(scalar(field.MapKey(), 1).MapKey(), scalarOrNew(entry.NewValue(), field.MapValue(), variant, depth))
		case field.IsList():
			list := message.Mutable(field).List()
			for n := range 2 {
				if field.Message() == nil {
					list.Append(scalar(field, n))
				} else if depth > 0 {
					fill(list.AppendMutable().Message(), variant+n, depth-1)
				}
			}
		case field.Message() == nil:
			message.Set(field, scalar(field, 0))
		case depth > 0:
			fill(message.Mutable(field).Message(), variant, depth-1)
		}
	}
}

// wellKnown has a value for the messages whose range is narrower than their fields say.
func wellKnown(name protoreflect.FullName) proto.Message {
	switch name {
	case "google.protobuf.Timestamp":
		return &timestamppb.Timestamp{Seconds: 1_700_000_000, Nanos: 250_000_000}
	case "google.protobuf.Struct":
		known, _ := structpb.NewStruct(map[string]any{"text": "é", "number": -1.5, "list": []any{true, nil}})
		return known
	}
	return nil
}

func scalarOrNew(value protoreflect.Value, field protoreflect.FieldDescriptor, variant, depth int) protoreflect.Value {
	if field.Message() == nil {
		return scalar(field, 0)
	}
	if depth > 0 {
		fill(value.Message(), variant, depth-1)
	}
	return value
}

// scalar is a value that no other field number has, negative where the type allows it, so that a swap of numbers or signs shows.
func scalar(field protoreflect.FieldDescriptor, nth int) protoreflect.Value {
	n := int(field.Number())*10 + nth + 1
	switch field.Kind() {
	case protoreflect.BoolKind:
		return protoreflect.ValueOfBool(true)
	case protoreflect.EnumKind:
		return protoreflect.ValueOfEnum(1)
	case protoreflect.Int32Kind:
		return protoreflect.ValueOfInt32(int32(-n))
	case protoreflect.Int64Kind:
		return protoreflect.ValueOfInt64(int64(-n) << 40)
	case protoreflect.Uint32Kind:
		return protoreflect.ValueOfUint32(uint32(n) << 20)
	case protoreflect.Uint64Kind:
		return protoreflect.ValueOfUint64(uint64(n) << 50)
	case protoreflect.FloatKind:
		return protoreflect.ValueOfFloat32(float32(n) + .5)
	case protoreflect.DoubleKind:
		return protoreflect.ValueOfFloat64(float64(n) + .25)
	case protoreflect.BytesKind:
		return protoreflect.ValueOfBytes([]byte{byte(n), 0, 255})
	}
	return protoreflect.ValueOfString(fmt.Sprint(field.Name(), "é", n))
}

func check(r io.Reader, w io.Writer) error {
	in := bufio.NewScanner(r)
	in.Buffer(nil, 1<<24)
	count := 0
	for ; in.Scan(); count++ {
		var sample line
		if err := json.Unmarshal(in.Bytes(), &sample); err != nil {
			return err
		}
		if err := checkSample(sample); err != nil {
			return fmt.Errorf("%s: %w", sample.Message, err)
		}
	}
	if count == 0 {
		return fmt.Errorf("nothing to check")
	}
	fmt.Fprintf(w, "%d samples of the published package read field for field\n", count)
	return in.Err()
}

func checkSample(sample line) error {
	kind, err := protoregistry.GlobalTypes.FindMessageByName(protoreflect.FullName(sample.Message))
	if err != nil {
		return err
	}
	read, want := kind.New().Interface(), kind.New().Interface()
	if err := proto.Unmarshal(sample.Bytes, read); err != nil {
		return err
	}
	if err := protojson.Unmarshal(sample.JSON, want); err != nil {
		return err
	}
	if !proto.Equal(read, want) {
		got, _ := asJSON(read)
		return fmt.Errorf("read %s, want %s", got, sample.JSON)
	}
	return nil
}

func asJSON(message proto.Message) (json.RawMessage, error) {
	text, err := protojson.MarshalOptions{UseProtoNames: true}.Marshal(message)
	if err != nil {
		return nil, err
	}
	var compact bytes.Buffer
	if err := json.Compact(&compact, text); err != nil {
		return nil, err
	}
	return compact.Bytes(), nil
}
