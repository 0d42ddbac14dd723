// Command gen turns the .proto files beside it into Go, without protoc: protocompile parses them and the
// plug-ins named in go.mod's tool lines write the code. Run it with `go generate ./workers/enginepb`.
package main

import (
	"bytes"
	"context"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"slices"

	"github.com/bufbuild/protocompile"
	"github.com/bufbuild/protocompile/protoutil"
	"google.golang.org/protobuf/proto"
	"google.golang.org/protobuf/reflect/protoreflect"
	"google.golang.org/protobuf/types/descriptorpb"
	"google.golang.org/protobuf/types/pluginpb"
)

func main() {
	if err := generate(os.Args[1:]); err != nil {
		fmt.Fprintln(os.Stderr, "gen:", err)
		os.Exit(1)
	}
}

func generate(names []string) error {
	compiler := protocompile.Compiler{
		Resolver:       protocompile.WithStandardImports(&protocompile.SourceResolver{}),
		SourceInfoMode: protocompile.SourceInfoStandard,
	}
	files, err := compiler.Compile(context.Background(), names...)
	if err != nil {
		return err
	}
	request := &pluginpb.CodeGeneratorRequest{FileToGenerate: names, Parameter: proto.String("module=leeway/workers/enginepb")}
	for _, file := range files {
		request.ProtoFile = withImports(request.ProtoFile, file)
	}
	for _, plugin := range []string{"protoc-gen-go", "protoc-gen-go-grpc"} {
		if err := run(plugin, request); err != nil {
			return fmt.Errorf("%s: %w", plugin, err)
		}
	}
	return nil
}

// withImports appends file after everything it imports, the order a plug-in asks for.
func withImports(sorted []*descriptorpb.FileDescriptorProto, file protoreflect.FileDescriptor) []*descriptorpb.FileDescriptorProto {
	for i := range file.Imports().Len() {
		sorted = withImports(sorted, file.Imports().Get(i).FileDescriptor)
	}
	same := func(have *descriptorpb.FileDescriptorProto) bool { return have.GetName() == file.Path() }
	if slices.ContainsFunc(sorted, same) {
		return sorted
	}
	return append(sorted, protoutil.ProtoFromFileDescriptor(file))
}

func run(plugin string, request *pluginpb.CodeGeneratorRequest) error {
	in, err := proto.Marshal(request)
	if err != nil {
		return err
	}
	cmd := exec.Command("go", "tool", plugin)
	cmd.Stdin, cmd.Stderr = bytes.NewReader(in), os.Stderr
	out, err := cmd.Output()
	if err != nil {
		return err
	}
	var response pluginpb.CodeGeneratorResponse
	if err := proto.Unmarshal(out, &response); err != nil {
		return err
	}
	if response.Error != nil {
		return fmt.Errorf("%s", response.GetError())
	}
	for _, file := range response.File {
		if err := os.MkdirAll(filepath.Dir(file.GetName()), 0o755); err != nil {
			return err
		}
		if err := os.WriteFile(file.GetName(), []byte(file.GetContent()), 0o644); err != nil {
			return err
		}
	}
	return nil
}
