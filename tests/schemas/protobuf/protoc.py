"""protoc itself, which says what a .proto file means."""

import tempfile
from collections.abc import Mapping
from pathlib import Path

from google.protobuf.descriptor_pb2 import FileDescriptorProto, FileDescriptorSet
from grpc_tools import protoc


def compiled(
    text: str, imports: Mapping[str, str] | None = None, name: str = "default.proto"
) -> FileDescriptorProto:
    """The descriptor of one file, as protoc makes it."""
    with tempfile.TemporaryDirectory() as folder:
        for file_name, content in {**(imports or {}), name: text}.items():
            path = Path(folder, file_name)
            path.parent.mkdir(parents=True, exist_ok=True)
            path.write_text(content)
        included = Path(protoc.__file__).parent / "_proto"
        output = Path(folder, "out")
        arguments = ["protoc", f"-I{folder}", f"-I{included}", f"--descriptor_set_out={output}", name]
        assert protoc.main(arguments) == 0, text
        return FileDescriptorSet.FromString(output.read_bytes()).file[0]
