"""Files that use what .proto files can have, for comparing with protoc and with themselves."""

META = """
syntax = "proto3";
package my.options;
import "google/protobuf/descriptor.proto";
message Mark { string text = 1; repeated int32 numbers = 2; Mark inner = 3; Level level = 4; }
enum Level { LOW = 0; HIGH = 1; }
extend google.protobuf.FileOptions { Mark on_file = 50001; }
extend google.protobuf.MessageOptions { string on_message = 50002; bool flag = 50003; }
extend google.protobuf.FieldOptions {
  Mark on_field = 50004; int32 count = 50005; double weight = 50006; bytes raw = 50007; Level level = 50008;
  repeated string words = 50009; sint64 below = 50010;
}
extend google.protobuf.OneofOptions { string on_oneof = 50011; }
extend google.protobuf.EnumOptions { string on_enum = 50012; }
extend google.protobuf.EnumValueOptions { string on_value = 50013; }
extend google.protobuf.ServiceOptions { string on_service = 50014; }
extend google.protobuf.MethodOptions { Mark on_method = 50015; }
"""

PROTO3 = r"""
// A comment { with a brace.
syntax = "proto3";
package shop.v1;
import "google/protobuf/timestamp.proto";
import public "google/protobuf/wrappers.proto";
import "meta.proto";
option java_package = "shop.v1";
option optimize_for = CODE_SIZE;
option cc_enable_arenas = false;
option (my.options.on_file) = { text: "f" numbers: [1, 2], inner { level: HIGH } };

/* Another one. */
message Order {
  option deprecated = true;
  option (my.options.on_message) = "it's \"quoted\" \n\x41\102";
  option (my.options.flag) = true;
  reserved 20, 30 to 40, 1000 to max;
  reserved "gone", 'away';
  string id = 1 [json_name = "orderId", deprecated = true];
  repeated Line lines = 0x2;
  map<string, Line.Part> parts = 3 [(my.options.count) = -5];
  map<int64, bytes> blobs = 04;
  optional int32 maybe = 5 [(my.options.on_field).inner.text = "deep", (my.options.weight) = 1.5e3];
  optional int32 _also = 15;
  google.protobuf.Timestamp at = 6 [
    (my.options.level) = HIGH, (my.options.words) = "a", (my.options.words) = "b"
  ];
  .shop.v1.Order.State state = 7 [
    (my.options.raw) = "\x00\xff", (my.options.below) = -9223372036854775808
  ];
  oneof payment {
    option (my.options.on_oneof) = "o";
    string card = 8;
    Line.Part voucher = 9;
    google.protobuf.StringValue wrapped = 10;
  }
  repeated sint32 packed_ones = 11;
  repeated fixed64 loose = 12 [packed = false];
  float ratio = 13;
  Order parent = 14;
  string snake_case_2_name = 16;
  enum State {
    option allow_alias = true;
    option (my.options.on_enum) = "e";
    reserved -9 to -5, 40 to max;
    reserved "OLD";
    UNKNOWN = 0;
    NEW = 1 [(my.options.on_value) = "v", deprecated = true];
    FRESH = 1;
    BAD = -1;
  }
  message Line {
    message Part { uint32 number = 1; Line.Part next = 2; v1.Order order = 3; }
    repeated Part part = 1;
    State state = 2;
  }
}
message message {
  .shop.v1.message message = 1; string option = 2; int32 reserved = 3; bool oneof = 4; float map = 5;
}
enum Top { TOP_ZERO = 0; }
service Orders {
  option (my.options.on_service) = "s";
  rpc Get (Order) returns (stream Order.Line) {
    option idempotency_level = NO_SIDE_EFFECTS;
    option (my.options.on_method).text = "m";
  }
  rpc Put (stream .shop.v1.Order) returns (Order);
  rpc Empty (Order) returns (Order) {}
}
"""

PROTO2 = r"""
syntax = "proto2";
package old;
option java_outer_classname = 'Old' 'Names';
message Old {
  required int32 id = 1;
  optional string name = 2 [default = "no\tbody"];
  optional bytes data = 3 [default = "\001\\x\"y"];
  repeated int32 loose = 4;
  repeated int32 tight = 5 [packed = true];
  optional Mood mood = 6 [default = BAD];
  optional double number = 7 [default = -1.5];
  optional float small = 8 [default = 1e-10];
  optional double far = 9 [default = inf];
  optional double none = 10 [default = nan];
  optional double below = 16 [default = -inf];
  optional uint64 big = 11 [default = 18446744073709551615];
  optional sint32 negative = 12 [default = -0x10];
  optional bool is_on = 13 [default = true];
  optional double whole = 17 [default = 3];
  optional group Result = 14 {
    required string url = 1;
    repeated group Inner = 2 { optional int32 x = 1; }
  }
  oneof choice { string a = 18; group Grouped = 19 { optional int32 y = 1; } }
  map<string, Old> others = 15;
  enum Mood { GOOD = 1; BAD = 2; }
  extensions 100 to 199, 500;
  extensions 1000 to max;
  extend Old { optional Old inner_extension = 101; }
}
extend Old { optional string outer = 100; repeated int32 many = 102 [packed = true]; }
"""

EDITION = """
edition = "2023";
package fresh;
option features.field_presence = IMPLICIT;
option features.enum_type = CLOSED;
message Fresh {
  string plain = 1;
  string explicit = 2 [features.field_presence = EXPLICIT];
  repeated int32 expanded = 3 [features.repeated_field_encoding = EXPANDED];
  Fresh delimited = 4 [features = { field_presence: EXPLICIT message_encoding: DELIMITED }];
  Kind kind = 5 [features.field_presence = LEGACY_REQUIRED];
  reserved gone, away;
  reserved 8 to 9;
  extensions 100 to 200 [verification = UNVERIFIED];
}
enum Kind { option features.enum_type = OPEN; ZERO = 0; ONE = 1; }
"""

BARE = "message M { optional int32 x = 1; }"

CORPUS = {"proto3": PROTO3, "proto2": PROTO2, "edition": EDITION, "bare": BARE, "meta": META}
IMPORTS = {"meta.proto": META}
