""".proto texts that are none, and words that look like others."""

import pytest
from tests.schemas.protobuf.corpus import BARE

from penstock.schemas.errors import InvalidSchema
from penstock.schemas.protobuf.parsing import parse_file

ODD = r"""
/* A comment { with a brace. */
edition = "2023";
package odd.name;
option (custom) = { a: "}" b: [1, 2] };
service Search {
  rpc Find (Query) returns (stream Query) { option (x) = "y"; ; }
}
;
message Query {
  extensions 1000 to 1999 [declaration = { number: 1000 }];
  string message = 0x1 [(custom_field) = "a,b]", json_name = "other", deprecated = true];
  .odd.name.Query.Enum enum = 2 [features.field_presence = EXPLICIT];
  oneof oneof { option (x) = 1; ; int32 reserved = 4; bool map = 6; }
  map < string , Query.Enum > snake_case_map = 10 [deprecated = true];
  enum Enum { FIRST = 0; B = -1 [deprecated = true, (x) = { y: 1 }]; }
}
"""


def test_words_are_told_apart_by_what_follows() -> None:
    file = parse_file(ODD)
    query = file.message_type[0]
    assert [field.name for field in query.field] == ["message", "enum", "reserved", "map", "snake_case_map"]
    assert query.field[0].json_name == "other"
    assert query.field[0].options.deprecated
    assert query.nested_type[0].name == "SnakeCaseMapEntry"
    assert file.options.uninterpreted_option[0].aggregate_value == 'a : "}" b : [ 1 , 2 ]'


def test_name_of_a_file_is_the_one_given() -> None:
    assert parse_file(BARE, "x.proto").name == "x.proto"


@pytest.mark.parametrize(
    ("text", "words"),
    [
        ("message M {", "ends too early"),
        ("message M { int32 x = 1 }", "line 1: '}' where ';' belongs"),
        ("\n\nmessage M { int32 x; }", "line 3: ';' where '=' belongs"),
        ("message M { int32 x = y; }", "'y' where a number belongs"),
        ("message M { int32 x = 1.5; }", "'1.5' is no whole number"),
        ("message 5 {}", "'5' where a name belongs"),
        ("\nmesage M {}", "line 2: 'mesage' begins no statement"),
        ("message M { § }", "is no word"),
        ("message Größe {}", "is no word"),
        ("message M { optional group G = 1; }", "';' where '{' belongs"),
        ('edition = "1900";', "no edition '1900'"),
        ('syntax = "proto4";', "'proto4' is none of proto2, proto3"),
        ("import google;", "'google' where a text belongs"),
        ('import "\\xff";', "no UTF-8"),
        ('import "\\U00110000";', "no character"),
        ("option optimize_for = FAST;", "optimize_for has a wrong value .*none of SPEED"),
        ("option deprecated = 5;", "deprecated has a wrong value .*true or false"),
        ("option java_package = 5;", "java_package has a wrong value .*a text"),
        ("option x = - ;", "';' is no value of an option"),
        ("message M { optional int32 x = 1 [default = {}]; }", "default of 'x' is no value"),
        ("service S { get }", "'get' where 'rpc' belongs"),
    ],
)
def test_text_that_is_none_is_refused_at_its_place(text: str, words: str) -> None:
    with pytest.raises(InvalidSchema, match=words):
        parse_file(text)
