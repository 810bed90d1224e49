"""Messages of all kinds of fields, out of Hypothesis, made by the runtime itself."""

from typing import Any

from google.protobuf.descriptor import Descriptor, FieldDescriptor
from google.protobuf.message_factory import GetMessageClass
from hypothesis import strategies as st

ALL_KINDS = """
syntax = "proto3";
package kinds;
import "google/protobuf/timestamp.proto";
import "google/protobuf/duration.proto";
import "google/protobuf/wrappers.proto";

message All {
  double a_double = 1;
  float a_float = 2;
  int32 an_int32 = 3;
  int64 an_int64 = 4;
  uint32 a_uint32 = 5;
  uint64 a_uint64 = 6;
  sint32 a_sint32 = 7;
  sint64 a_sint64 = 8;
  fixed32 a_fixed32 = 9;
  fixed64 a_fixed64 = 10;
  sfixed32 an_sfixed32 = 11;
  sfixed64 an_sfixed64 = 12;
  bool a_bool = 13;
  string a_string = 14;
  bytes some_bytes = 15;
  Colour colour = 16;
  Inner inner = 17;
  optional int32 maybe = 18;
  repeated int32 numbers = 19;
  repeated string words = 20;
  repeated Inner inners = 21;
  map<string, int64> counts = 22;
  map<int32, Inner> by_number = 23;
  oneof choice { string text = 24; int64 number = 25; Inner other = 26; }
  google.protobuf.Timestamp at = 27;
  google.protobuf.Duration took = 28;
  google.protobuf.StringValue wrapped = 29;
  repeated fixed32 fixed = 30;
  repeated bool loose = 31 [packed = false];
  repeated Colour colours = 3000;
  message Inner { string name = 1; double value = 2; repeated sint64 deltas = 3; }
  enum Colour { RED = 0; GREEN = 1; BLUE = -5; }
}
"""

PROTO2 = """
syntax = "proto2";
message Old {
  required int32 id = 1;
  optional string name = 2 [default = "nobody"];
  repeated int32 loose = 3;
  repeated int32 tight = 4 [packed = true];
  optional Mood mood = 5;
  enum Mood { GOOD = 1; BAD = 2; }
}
"""

_INTEGERS = {
    FieldDescriptor.TYPE_INT32: (-(2**31), 2**31 - 1),
    FieldDescriptor.TYPE_SINT32: (-(2**31), 2**31 - 1),
    FieldDescriptor.TYPE_SFIXED32: (-(2**31), 2**31 - 1),
    FieldDescriptor.TYPE_INT64: (-(2**63), 2**63 - 1),
    FieldDescriptor.TYPE_SINT64: (-(2**63), 2**63 - 1),
    FieldDescriptor.TYPE_SFIXED64: (-(2**63), 2**63 - 1),
    FieldDescriptor.TYPE_UINT32: (0, 2**32 - 1),
    FieldDescriptor.TYPE_FIXED32: (0, 2**32 - 1),
    FieldDescriptor.TYPE_UINT64: (0, 2**64 - 1),
    FieldDescriptor.TYPE_FIXED64: (0, 2**64 - 1),
}
_SCALARS: dict[int, st.SearchStrategy[Any]] = {
    **{kind: st.integers(*bounds) | st.integers(0, 3) for kind, bounds in _INTEGERS.items()},
    FieldDescriptor.TYPE_DOUBLE: st.floats(allow_nan=False),
    FieldDescriptor.TYPE_FLOAT: st.floats(width=32, allow_nan=False),
    FieldDescriptor.TYPE_BOOL: st.booleans(),
    FieldDescriptor.TYPE_STRING: st.text(max_size=8),
    FieldDescriptor.TYPE_BYTES: st.binary(max_size=8),
}


@st.composite
def messages(draw: st.DrawFn, descriptor: Descriptor) -> Any:
    """A message with some of its fields set."""
    message = GetMessageClass(descriptor)()
    if descriptor.full_name in ("google.protobuf.Timestamp", "google.protobuf.Duration"):
        micros = draw(st.integers(-(2**55), 2**55))
        getattr(message, "FromMicroseconds")(micros)  # noqa: B009 - mypy knows no such method of messages.
        return message
    chosen = draw(st.sets(st.sampled_from(range(len(descriptor.fields)))))
    for field in [descriptor.fields[index] for index in sorted(chosen)]:
        _set(draw, message, field)
    for field in descriptor.fields:
        if field.is_required:
            setattr(message, field.name, draw(_SCALARS[field.type]))
    return message


def _set(draw: st.DrawFn, message: Any, field: FieldDescriptor) -> None:
    target = getattr(message, field.name)
    kind = field.message_type
    if kind is not None and kind.GetOptions().map_entry:
        for _ in range(draw(st.integers(0, 2))):
            key = draw(_SCALARS[kind.fields[0].type])
            if kind.fields[1].message_type is None:
                target[key] = draw(_value(kind.fields[1]))
            else:
                target[key].CopyFrom(draw(messages(kind.fields[1].message_type)))
    elif kind is not None and field.is_repeated:
        target.extend(draw(st.lists(messages(kind), max_size=2)))
    elif kind is not None:
        target.CopyFrom(draw(messages(kind)))
        target.SetInParent()
    elif field.is_repeated:
        target.extend(draw(st.lists(_value(field), max_size=3)))
    else:
        setattr(message, field.name, draw(_value(field)))


def _value(field: FieldDescriptor) -> st.SearchStrategy[Any]:
    if field.enum_type is None:
        return _SCALARS[field.type]
    known = st.sampled_from([value.number for value in field.enum_type.values])
    return known if field.enum_type.is_closed else known | st.integers(-9, 9)
