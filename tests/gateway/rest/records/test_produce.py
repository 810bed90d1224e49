"""Records produced over REST."""

import base64

import pytest
from tests.conftest import UniqueName
from tests.gateway.conftest import MakeGateway
from tests.gateway.rest_client import RestClient

from penstock import Consumer


def stored(bootstrap: str, topic: str, count: int) -> list[tuple[bytes | None, bytes | None]]:
    """Keys and values as another client reads them."""
    with Consumer(bootstrap_servers=bootstrap) as consumer:
        consumer.assign({(topic, 0): 0})
        found: list[tuple[bytes | None, bytes | None]] = []
        while len(found) < count:
            got = consumer.poll(10)
            assert got
            found += [(message.key, message.value) for message in got]
    return found


def test_one_record_is_stored(rest: RestClient, bootstrap: str, unique: UniqueName) -> None:
    topic = rest.new_topic(unique())

    answer = rest.json("POST", f"/topics/{topic}/records", {"key": "valve", "value": {"order": 1}})

    (place,) = answer["offsets"]
    assert (place["partition"], place["offset"]) == (0, 0)
    assert place["timestamp"] > 0
    assert stored(bootstrap, topic, 1) == [(b"valve", b'{"order":1}')]


def test_many_records_are_told_in_order(rest: RestClient, unique: UniqueName) -> None:
    topic = rest.new_topic(unique(), 3)

    places = rest.produce(topic, *({"value": number, "partition": number % 3} for number in range(30)))

    assert [(each["partition"], each["offset"]) for each in places] == [
        (number % 3, number // 3) for number in range(30)
    ]


@pytest.mark.parametrize(
    ("record", "expected"),
    [
        ({"value": "text"}, (None, b"text")),
        ({"value": "text", "value_format": "json"}, (None, b'"text"')),
        ({"value": ["ü", 1.5, True]}, (None, '["ü",1.5,true]'.encode())),
        ({"value": base64.b64encode(b"\x00\xff").decode(), "value_format": "binary"}, (None, b"\x00\xff")),
        ({"key": 7, "value": None}, (b"7", None)),
        ({"key": "k"}, (b"k", None)),
        ({"key": "", "value": ""}, (b"", b"")),
        ({"value": "\ud800", "value_format": "json"}, (None, b'"\\ud800"')),
    ],
)
def test_formats_become_bytes(
    rest: RestClient, bootstrap: str, unique: UniqueName, record: dict[str, object], expected: object
) -> None:
    topic = rest.new_topic(unique())

    rest.produce(topic, record)

    assert stored(bootstrap, topic, 1) == [expected]


def test_headers_and_timestamp_are_kept(rest: RestClient, unique: UniqueName) -> None:
    topic = rest.new_topic(unique())
    headers = [
        {"name": "a", "value": "x"},
        {"name": "a", "value": "AP8=", "format": "binary"},
        {"name": "none"},
    ]

    rest.produce(topic, {"value": 1, "headers": headers, "timestamp": 1_700_000_000_123})
    rest.produce(topic, {"value": 2, "headers": {"source": "shop", "none": None}})

    first, second = rest.json("GET", f"/topics/{topic}/records")["records"]
    assert first["timestamp"] == 1_700_000_000_123
    assert [(each["name"], each["value"]) for each in first["headers"]] == [
        ("a", "x"),
        ("a", "AP8="),
        ("none", None),
    ]
    assert [(each["name"], each["value"]) for each in second["headers"]] == [
        ("source", "shop"),
        ("none", None),
    ]


def test_unknown_topic_is_told_at_once(rest: RestClient, unique: UniqueName) -> None:
    status, told = rest.refusal("POST", f"/topics/{unique()}/records", {"value": 1})

    assert status == 404
    assert told["error_code"] == 40401
    assert told["error"] == "UNKNOWN_TOPIC_OR_PARTITION"


def test_fate_of_each_is_told_when_one_fails(rest: RestClient, unique: UniqueName) -> None:
    topic = rest.new_topic(unique(), 2, max_message_bytes="1000")
    records = [
        {"value": "fits", "partition": 0},
        {"value": "x" * 5000, "partition": 1},
        {"value": 1, "partition": 9},
    ]

    status, told = rest.refusal("POST", f"/topics/{topic}/records", {"records": records})

    first, second, third = told["offsets"]
    assert (first["partition"], first["offset"]) == (0, 0)
    assert (status, second["error"]) == (422, "MESSAGE_TOO_LARGE")
    assert (third["error_code"], third["error"]) == (40402, "UNKNOWN_TOPIC_OR_PARTITION")


@pytest.mark.parametrize(
    ("body", "complaint"),
    [
        ({"records": []}, "records"),
        ({"value": 1, "colour": "red"}, "colour"),
        ({"value": 5, "value_format": "string"}, "value is no string"),
        ({"value": "not base64!", "value_format": "binary"}, "value is no base64"),
        ({"value": 1, "partition": -1}, "partition"),
        ({"value": 1, "headers": {"\ud800": "half a character"}}, "headers"),
        ({"value": 1, "headers": {"a\0b": "would be cut"}}, "headers"),
        ({"value": 1, "headers": {"a": "\ud800"}}, "header 'a' is no string"),
        ({"value": float("nan")}, "value is no JSON: NaN"),
        ({"key": float("inf"), "value": 1}, "key is no JSON"),
        ({"value": float("nan"), "value_format": "string"}, "value is no string: NaN"),
        ({"value": 1, "timestamp": -5}, "timestamp"),
        ([1, 2], "body"),
    ],
)
def test_records_that_make_no_sense_are_refused(
    rest: RestClient, unique: UniqueName, body: object, complaint: str
) -> None:
    topic = rest.new_topic(unique())

    status, told = rest.refusal("POST", f"/topics/{topic}/records", body)

    assert status == 422
    assert complaint in told["message"]


def test_cluster_that_is_not_there_is_told(make_gateway: MakeGateway, closed_port: int) -> None:
    alone = RestClient(make_gateway(f"127.0.0.1:{closed_port}").url)

    status, told = alone.refusal("POST", "/topics/any/records", {"value": 1})
    alone.close()

    assert status == 503
    assert told["error_code"] == 50003
    assert str(closed_port) in told["message"]
