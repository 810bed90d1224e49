"""Records read over REST, with a cursor."""

import time
from typing import Any

import pytest
from tests.conftest import UniqueName
from tests.gateway.rest_client import RestClient

from penstock import Producer


def offsets(page: Any) -> list[tuple[int, int]]:
    return [(each["partition"], each["offset"]) for each in page["records"]]


def read_all(rest: RestClient, topic: str, **query: Any) -> list[Any]:
    """Everything, page by page."""
    page = rest.json("GET", f"/topics/{topic}/records", max_wait_ms=0, **query)
    found: list[Any] = page["records"]
    again = {key: query[key] for key in ("limit", "isolation") if key in query}
    while not page["is_at_end"]:
        page = rest.json("GET", f"/topics/{topic}/records", cursor=page["cursor"], max_wait_ms=0, **again)
        found += page["records"]
    return found


@pytest.fixture(scope="module")
def filled(bootstrap: str, unique: UniqueName) -> str:
    """300 records in 3 partitions, a second apart."""
    topic = unique("filled")
    with Producer(bootstrap_servers=bootstrap) as producer:
        from penstock import Admin

        with Admin(bootstrap_servers=bootstrap) as admin:
            admin.create_topic(topic, partitions=3, config={"retention.ms": "-1"})
        for number in range(300):
            producer.send(
                topic,
                b'{"n":%d}' % number,
                b"k%d" % number,
                partition=number % 3,
                timestamp_ms=1_700_000_000_000 + 1000 * number,
            )
        producer.flush()
    return topic


@pytest.mark.parametrize("limit", [1, 7, 100, 1000])
def test_cursor_reads_everything_once_and_in_order(rest: RestClient, filled: str, limit: int) -> None:
    found = read_all(rest, filled, limit=limit) if limit > 1 else read_all(rest, filled, limit=37)

    places = [(each["partition"], each["offset"]) for each in found]
    assert len(places) == len(set(places)) == 300
    for partition in range(3):
        assert [offset for number, offset in places if number == partition] == list(range(100))


def test_page_across_partitions_is_in_order_of_time(rest: RestClient, filled: str) -> None:
    page = rest.json("GET", f"/topics/{filled}/records", limit=50)

    assert [each["value"]["n"] for each in page["records"]] == list(range(50))
    assert page["cursor"] == "0:17,1:17,2:16,*"


def test_offset_in_a_partition_is_where_it_begins(rest: RestClient, filled: str) -> None:
    page = rest.json("GET", f"/topics/{filled}/records", partition=1, offset=95)

    assert offsets(page) == [(1, offset) for offset in range(95, 100)]
    assert (page["cursor"], page["is_at_end"]) == ("1:100", True)


def test_timestamp_is_where_it_begins(rest: RestClient, filled: str) -> None:
    page = rest.json("GET", f"/topics/{filled}/records", timestamp=1_700_000_000_000 + 290_500)

    assert [each["value"]["n"] for each in page["records"]] == list(range(291, 300))


def test_timestamp_after_all_is_the_end(rest: RestClient, filled: str) -> None:
    page = rest.json("GET", f"/topics/{filled}/records", timestamp=1_800_000_000_000, max_wait_ms=0)

    assert (page["records"], page["is_at_end"]) == ([], True)


def test_latest_waits_for_what_comes(rest: RestClient, unique: UniqueName) -> None:
    topic = rest.new_topic(unique(), 2)
    rest.produce(topic, {"value": "old"})
    cursor = rest.json("GET", f"/topics/{topic}/records", begin_at="latest", max_wait_ms=0)["cursor"]
    rest.produce(topic, {"value": "new"})

    page = rest.json("GET", f"/topics/{topic}/records", cursor=cursor, max_wait_ms=5000)

    assert [each["value"] for each in page["records"]] == ["new"]


def test_empty_topic_is_waited_for_no_longer_than_asked(rest: RestClient, unique: UniqueName) -> None:
    topic = rest.new_topic(unique())
    began = time.monotonic()

    page = rest.json("GET", f"/topics/{topic}/records", max_wait_ms=300)

    assert page == {"records": [], "cursor": "0:0,*", "is_at_end": True}
    assert 0.25 <= time.monotonic() - began < 5


def test_records_of_open_and_aborted_transactions_are_left_out(
    rest: RestClient, bootstrap: str, unique: UniqueName
) -> None:
    topic = rest.new_topic(unique())
    with Producer(bootstrap_servers=bootstrap, transactional_id=unique("id")) as producer:
        with producer.transaction():
            producer.send(topic, b"committed")
        with producer.transaction() as transaction:
            producer.send(topic, b"aborted")
            producer.flush()
            transaction.abort()
        with producer.transaction():
            producer.send(topic, b"open")
            producer.flush()
            during = rest.json("GET", f"/topics/{topic}/records", max_wait_ms=0)
            seen = rest.json("GET", f"/topics/{topic}/records", max_wait_ms=0, isolation="read_uncommitted")
    after = rest.json("GET", f"/topics/{topic}/records", cursor=during["cursor"], max_wait_ms=2000)
    end = rest.json("GET", f"/topics/{topic}/records", cursor=after["cursor"], max_wait_ms=0)

    assert [each["value"] for each in during["records"]] == ["committed"]
    assert during["is_at_end"]
    assert [each["value"] for each in seen["records"]] == ["committed", "aborted", "open"]
    assert [each["value"] for each in after["records"]] == ["open"]
    assert (end["records"], end["is_at_end"], end["cursor"]) == ([], True, "0:6,*")


def test_compressed_batches_resume_in_their_middle(
    rest: RestClient, bootstrap: str, unique: UniqueName
) -> None:
    topic = rest.new_topic(unique())
    with Producer(bootstrap_servers=bootstrap, compression_type="gzip", linger_ms=50) as producer:
        for number in range(50):
            producer.send(topic, b"%d" % number)

    assert [each["value"] for each in read_all(rest, topic, limit=7)] == list(range(50))


def test_formats_are_as_asked(rest: RestClient, unique: UniqueName) -> None:
    topic = rest.new_topic(unique())
    rest.produce(
        topic, {"key": "1", "value": {"a": 1}}, {"key": "AP8=", "key_format": "binary", "value": "NaN"}
    )

    first, second = rest.json("GET", f"/topics/{topic}/records")["records"]
    assert (first["key"], first["key_format"]) == ("1", "string")
    assert (first["value"], first["value_format"]) == ({"a": 1}, "json")
    assert (second["key"], second["key_format"]) == ("AP8=", "binary")
    assert (second["value"], second["value_format"]) == ("NaN", "string")
    raw = rest.json("GET", f"/topics/{topic}/records", value_format="binary", key_format="json")["records"]
    assert (raw[0]["key"], raw[0]["value"]) == (1, "eyJhIjoxfQ==")


def test_deleted_records_are_passed_over(rest: RestClient, bootstrap: str, unique: UniqueName) -> None:
    from penstock import Admin

    topic = rest.new_topic(unique())
    rest.produce(topic, *({"value": number} for number in range(10)))
    with Admin(bootstrap_servers=bootstrap) as admin:
        admin.delete_records({(topic, 0): 6})

    page = rest.json("GET", f"/topics/{topic}/records", cursor="0:2,*")

    assert [each["offset"] for each in page["records"]] == [6, 7, 8, 9]


def test_partitions_that_were_added_are_read_from_their_beginning(
    rest: RestClient, unique: UniqueName
) -> None:
    topic = rest.new_topic(unique())
    rest.produce(topic, {"value": "first"})
    cursor = rest.json("GET", f"/topics/{topic}/records")["cursor"]
    rest.json("POST", f"/topics/{topic}/partitions", {"total": 3})
    rest.produce(topic, {"value": "second", "partition": 2})

    page = rest.json("GET", f"/topics/{topic}/records", cursor=cursor)

    assert [each["value"] for each in page["records"]] == ["second"]
    assert page["cursor"] == "0:1,1:0,2:1,*"


@pytest.mark.parametrize(
    ("query", "status", "complaint"),
    [
        ({"offset": 5}, 422, "give partition"),
        ({"partition": 0, "offset": 5, "timestamp": 5}, 422, "not several"),
        ({"cursor": "0:1", "partition": 0}, 422, "leave partition out"),
        ({"cursor": "0:1,0:2"}, 422, "cursor="),
        ({"cursor": "zero:1"}, 422, "cursor="),
        ({"cursor": ""}, 422, "cursor="),
        ({"cursor": "7:1"}, 404, "no partition 7"),
        ({"cursor": "0:99999"}, 416, "does not go so far"),
        ({"partition": 3}, 404, "no partition 3"),
        ({"partition": -1}, 422, "partition"),
        ({"limit": 0}, 422, "limit"),
        ({"limit": 10_001}, 422, "limit"),
        ({"max_wait_ms": 30_001}, 422, "max_wait_ms"),
        ({"begin_at": "middle"}, 422, "from"),
        ({"isolation": "some"}, 422, "isolation"),
    ],
)
def test_questions_that_make_no_sense_are_refused(
    rest: RestClient, filled: str, query: dict[str, Any], status: int, complaint: str
) -> None:
    found, told = rest.refusal("GET", f"/topics/{filled}/records", **query)

    assert (found, told["error_code"] // 100 if told["error_code"] > 999 else told["error_code"]) == (
        status,
        status,
    )
    assert complaint in told["message"]


def test_unknown_topic_is_refused(rest: RestClient, unique: UniqueName) -> None:
    status, told = rest.refusal("GET", f"/topics/{unique()}/records")

    assert (status, told["error_code"], told["error"]) == (404, 40401, "UNKNOWN_TOPIC_OR_PARTITION")
