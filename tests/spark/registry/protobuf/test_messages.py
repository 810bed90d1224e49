"""Messages of a schema: with what it imports, by name, and by the way that records give."""

import pytest

from penstock.model.errors import UsageError
from penstock.schemas.protobuf.parsing import parse_file
from penstock.spark.registry.protobuf.messages import message_descriptor, message_names, names_at

NESTED = """
syntax = "proto3"; package shop;
message Order {
  map<string, string> tags = 1;
  message Line { message Part { int32 x = 1; } Part part = 1; }
  Line line = 2;
  message Extra {}
}
message Second {}
"""


def test_first_message_is_meant_unless_one_is_named() -> None:
    assert message_descriptor(NESTED, {}).full_name == "shop.Order"
    assert message_descriptor(NESTED, {}, "shop.Order.Line").full_name == "shop.Order.Line"
    with pytest.raises(UsageError, match=r"no message 'x'; there are shop\.Order, "):
        message_descriptor(NESTED, {}, "x")


def test_way_to_a_message_is_read_as_each_client_counts() -> None:
    file = parse_file(NESTED)
    assert message_names(file)["shop.Order.Line"] == (0, 1)
    assert names_at(file, (1,)) == {"shop.Second"}
    assert names_at(file, (0, 0)) == {"shop.Order.Line"}  # The Java client: without the map's entry.
    assert names_at(file, (0, 1)) == {"shop.Order.Line", "shop.Order.Extra"}
    assert names_at(file, (0, 1, 0)) == {"shop.Order.Line.Part"}
    assert names_at(file, (7,)) == set()


def test_imports_come_from_references_and_from_what_everybody_has() -> None:
    text = """
        syntax = "proto3";
        import "common/money.proto"; import "google/type/date.proto"; import "confluent/types/decimal.proto";
        import "confluent/meta.proto"; import "google/protobuf/any.proto";
        message M {
          common.Money money = 1 [(confluent.field_meta) = { doc: "x" }];
          google.type.Date day = 2; confluent.type.Decimal number = 3; google.protobuf.Any any = 4;
        }
    """
    references = {
        "common/unit.proto": 'syntax = "proto3"; package common; enum Unit { EUR = 0; }',
        "common/money.proto": """
            syntax = "proto3"; package common; import "common/unit.proto";
            message Money { Unit unit = 1; }
        """,
    }
    fields = message_descriptor(text, references).fields
    assert [field.message_type.full_name for field in fields if field.message_type] == [
        *("common.Money", "google.type.Date", "confluent.type.Decimal", "google.protobuf.Any")
    ]


@pytest.mark.parametrize(
    ("text", "words"),
    [
        ('syntax = "proto3"; import "x.proto"; message M {}', "imports 'x.proto', which is none of its ref"),
        ('syntax = "proto3"; import "google/type/none.proto"; message M {}', "googleapis-common-protos"),
        ('syntax = "proto3"; message M { Nowhere x = 1; }', "Nowhere"),
        ('syntax = "proto3"; enum E { A = 0; }', "has no message"),
    ],
)
def test_schema_that_is_not_whole_is_refused(text: str, words: str) -> None:
    with pytest.raises(UsageError, match=words):
        message_descriptor(text, {})


def test_files_that_import_each_other_are_refused() -> None:
    references = {
        "a.proto": 'syntax = "proto3"; import "b.proto"; message A { B b = 1; }',
        "b.proto": 'syntax = "proto3"; import "a.proto"; message B { A a = 1; }',
    }
    with pytest.raises(UsageError, match=r"\.proto"):
        message_descriptor('syntax = "proto3"; import "a.proto"; message M { A a = 1; }', references)
