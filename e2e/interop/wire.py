"""Holds leeway's protobuf messages against the published package smg-grpc-proto, descriptor by descriptor and byte by byte.

    wire emit | python wire.py | wire check
"""
import base64, json, sys
from google.protobuf import descriptor_pb2, descriptor_pool, json_format, message_factory
from smg_grpc_proto.generated import common_pb2, sglang_scheduler_pb2, tokenspeed_scheduler_pb2, vllm_engine_pb2

POOL = descriptor_pool.Default()


def shape(field):
    """What has to agree for two sides to read each other's field."""
    oneof = field.containing_oneof
    return (field.number, field.type, field.is_repeated, field.has_presence,
            oneof.name if oneof and len(oneof.fields) > 1 else None,
            field.message_type.full_name if field.message_type and not field.message_type.GetOptions().map_entry else None)


def compare_descriptors(files):
    """Every message, field, enum value and method of ours is the published one."""
    pool = descriptor_pool.DescriptorPool()
    pending = list(files)
    for name in ("google/protobuf/struct.proto", "google/protobuf/timestamp.proto"):
        pool.Add(as_proto(POOL.FindFileByName(name)))
    for file in sorted(pending, key=lambda f: len(f.dependency)):
        if file.package.startswith("google"):
            continue
        pool.Add(file)
    faults, fields, methods = [], 0, 0
    for file in pending:
        ours = pool.FindFileByName(file.name)
        for name, message in ours.message_types_by_name.items():
            theirs = POOL.FindMessageTypeByName(message.full_name)
            for field in message.fields:
                fields += 1
                other = theirs.fields_by_name.get(field.name)
                if other is None or shape(other) != shape(field):
                    faults.append(f"{message.full_name}.{field.name}: ours {shape(field)}, published {other and shape(other)}")
        for name, enum in ours.enum_types_by_name.items():
            theirs = POOL.FindEnumTypeByName(enum.full_name)
            if {v.name: v.number for v in enum.values} != {v.name: v.number for v in theirs.values}:
                faults.append(f"enum {enum.full_name} differs")
        for name, service in ours.services_by_name.items():
            theirs = POOL.FindServiceByName(service.full_name)
            for method in service.methods:
                methods += 1
                other = theirs.FindMethodByName(method.name)
                mine = (method.input_type.full_name, method.output_type.full_name, method.client_streaming, method.server_streaming)
                if other is None or mine != (other.input_type.full_name, other.output_type.full_name, other.client_streaming, other.server_streaming):
                    faults.append(f"method {method.full_name} differs")
    if faults:
        sys.exit("\n".join(faults))
    print(f"{fields} fields and {methods} methods are the published ones", file=sys.stderr)


def as_proto(file):
    out = descriptor_pb2.FileDescriptorProto()
    file.CopyToProto(out)
    return out


def main():
    samples = 0
    for text in sys.stdin:
        line = json.loads(text)
        if "files" in line:
            compare_descriptors(descriptor_pb2.FileDescriptorSet.FromString(base64.b64decode(line["files"])).file)
            continue
        message_class = message_factory.GetMessageClass(POOL.FindMessageTypeByName(line["message"]))
        wanted = json_format.ParseDict(line["json"], message_class())
        read = message_class.FromString(base64.b64decode(line.get("bytes", "")))
        if read != wanted:
            sys.exit(f"{line['message']}: read {json_format.MessageToJson(read)}, want {line['json']}")
        # What Python writes may order fields and pack numbers as it likes; leeway must read it all the same.
        print(json.dumps({"message": line["message"], "json": line["json"],
                          "bytes": base64.b64encode(wanted.SerializeToString()).decode()}))
        samples += 1
    print(f"{samples} samples of leeway read field for field", file=sys.stderr)


main()
