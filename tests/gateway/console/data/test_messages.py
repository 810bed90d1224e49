"""Messages of a real topic, over a real gateway: pages, searches, live ones, exports."""

import base64
import contextlib
import csv
import io
import json
import time
from contextlib import closing
from typing import Any

import pytest
from tests.broker_process import wait_until
from tests.conftest import UniqueName
from tests.gateway.console.asking import events, get, get_text, refusal

from penstock.client import Admin, Producer
from penstock.gateway.server import GatewayServer

START_MS = 1_700_000_000_000
COUNT = 300


@pytest.fixture(scope="module")
def orders(bootstrap: str, unique: UniqueName) -> str:
    """A topic of three partitions with 300 orders, a second apart, whose number is their total."""
    topic = unique("orders")
    with Admin(bootstrap_servers=bootstrap) as admin:
        admin.create_topic(topic, partitions=3, config={"retention.ms": "-1"})
        with Producer(bootstrap_servers=bootstrap) as producer:
            for number in range(COUNT):
                value = json.dumps({"order": {"total": number}, "by": f"customer-{number % 7}"}).encode()
                producer.send(
                    topic,
                    value,
                    f"key-{number}".encode(),
                    {"trace": f"t{number}".encode()},
                    number % 3,
                    START_MS + number * 1000,
                )
    return topic


def totals(told: list[dict[str, Any]]) -> list[int]:
    return [json.loads(message["value"]["text"])["order"]["total"] for message in told]


def test_first_page_has_the_newest_messages_of_all_partitions(gateway: GatewayServer, orders: str) -> None:
    page = get(gateway.url, f"messages/{orders}", limit=10)
    assert totals(page["messages"]) == list(range(299, 289, -1))
    newest = page["messages"][0]
    assert (newest["partition"], newest["offset"], newest["timestamp"]) == (2, 99, START_MS + 299_000)
    assert newest["key"] == {"kind": "text", "bytes": 7, "text": "key-299"}
    assert newest["value"]["kind"] == "json"
    assert newest["headers"][0]["name"] == "trace"
    assert page["newer"] is None


def test_paging_back_and_forth_shows_everything_once(gateway: GatewayServer, orders: str) -> None:
    seen: list[int] = []
    page = get(gateway.url, f"messages/{orders}", limit=70)
    while True:
        seen += totals(page["messages"])
        if page["older"] is None:
            break
        page = get(gateway.url, f"messages/{orders}", limit=70, before=page["older"])
    assert seen == list(range(299, -1, -1))
    newer = get(gateway.url, f"messages/{orders}", limit=70, after=page["newer"])
    assert totals(newer["messages"]) == list(range(89, 19, -1))


def test_page_at_a_time_begins_there(gateway: GatewayServer, orders: str) -> None:
    page = get(gateway.url, f"messages/{orders}", limit=5, at=str(START_MS + 99_500))
    assert totals(page["messages"]) == [104, 103, 102, 101, 100]
    assert totals(get(gateway.url, f"messages/{orders}", limit=2, before=page["older"])["messages"]) == [
        99,
        98,
    ]


def test_page_of_one_partition_has_no_others(gateway: GatewayServer, orders: str) -> None:
    page = get(gateway.url, f"messages/{orders}", partitions="1", limit=3)
    assert totals(page["messages"]) == [298, 295, 292]
    assert page["partitions"] == [{"partition": 1, "start": 0, "end": 100}]


def test_one_message_is_told_whole_with_its_bytes(gateway: GatewayServer, orders: str) -> None:
    message = get(gateway.url, f"messages/{orders}/2/99")
    assert message["range"] == {"start": 0, "end": 100}
    assert base64.b64decode(message["key"]["base64"]) == b"key-299"
    assert message["headers"][0]["value"]["text"] == "t299"


@pytest.mark.parametrize(
    ("where", "said"),
    [
        ("messages/{topic}/2/100", "holds offsets 0 to 99"),
        ("messages/{topic}/7/0", "has no partition 7"),
        ("messages/no-such-topic", "no topic 'no-such-topic'"),
    ],
)
def test_what_is_not_there_is_told_in_words(
    gateway: GatewayServer, orders: str, where: str, said: str
) -> None:
    status, told = refusal(gateway.url, where.format(topic=orders))
    assert status == 404
    assert said in told["message"]


@pytest.mark.parametrize(
    ("query", "said"),
    [
        ({"before": "nowhere"}, "no place"),
        ({"partitions": "a"}, "no list of partitions"),
        ({"at": "soon"}, "no time"),
        ({"filter": "total > 1"}, "needs a field"),
        ({"since": "2026-01-02", "until": "2026-01-01"}, "later than"),
        ({"limit": 100_000}, "limit"),
    ],
)
def test_a_query_that_makes_no_sense_is_told_in_words(
    gateway: GatewayServer, orders: str, query: dict[str, Any], said: str
) -> None:
    status, told = refusal(gateway.url, f"messages/{orders}", **query)
    assert status == 422
    assert said in told["message"]


def search(gateway: GatewayServer, topic: str, **query: Any) -> tuple[list[int], dict[str, Any]]:
    """The totals that a search tells, and the rest of what it says last."""
    found: list[int] = []
    last: dict[str, Any] = {}
    for name, data in events(gateway.url, f"messages/{topic}/search", **query):
        if name == "matches":
            found += totals(data["messages"])
        last |= {} if name == "matches" else data
    return found, last


def test_search_finds_every_match_and_says_that_it_is_complete(gateway: GatewayServer, orders: str) -> None:
    found, end = search(gateway, orders, filter="$.order.total >= 10 and customer-3")
    assert found == [number for number in range(299, 9, -1) if number % 7 == 3]
    assert end["is_complete"]
    assert (end["scanned"], end["total"], end["matched"]) == (300, 300, len(found))
    assert end["before"] is None


def test_search_that_found_enough_goes_on_where_it_ended(gateway: GatewayServer, orders: str) -> None:
    found, end = search(gateway, orders, filter="customer-3", limit=10)
    assert len(found) == 10
    assert not end["is_complete"]
    assert end["scanned"] < 300
    rest, end = search(gateway, orders, filter="customer-3", before=end["before"])
    assert found + rest == [number for number in range(299, -1, -1) if number % 7 == 3]
    assert end["is_complete"]


def test_search_between_two_times_looks_at_nothing_else(gateway: GatewayServer, orders: str) -> None:
    found, end = search(
        gateway, orders, filter="customer", since=str(START_MS + 100_000), until=str(START_MS + 103_000)
    )
    assert found == [102, 101, 100]
    assert end["total"] == 3


def test_search_without_any_match_is_complete_too(gateway: GatewayServer, orders: str) -> None:
    assert search(gateway, orders, filter="nobody")[1]["is_complete"]


def test_a_listener_who_hangs_up_frees_its_stream(gateway: GatewayServer, orders: str) -> None:
    with closing(events(gateway.url, f"messages/{orders}/tail")) as live:
        assert next(live).name == "start"
        assert gateway.gateway.streams.count >= 1
    deadline = time.monotonic() + 10
    while gateway.gateway.streams.count:
        assert time.monotonic() < deadline
        time.sleep(0.02)


def test_live_messages_come_as_they_are_written(
    gateway: GatewayServer, bootstrap: str, unique: UniqueName
) -> None:
    topic = unique("live")
    with Admin(bootstrap_servers=bootstrap) as admin:
        admin.create_topic(topic, partitions=2)
    live = events(gateway.url, f"messages/{topic}/tail", filter="wanted")
    with closing(live), Producer(bootstrap_servers=bootstrap) as producer:
        assert next(live).name == "start"
        producer.send(topic, b"other").result(10)
        producer.send(topic, b"<script>wanted</script>").result(10)
        came = next(live)
    assert [message["value"]["text"] for message in came.data["messages"]] == ["<script>wanted</script>"]


def texts(gateway: GatewayServer, topic: str, **query: Any) -> list[str]:
    return [each["value"]["text"] for each in get(gateway.url, f"messages/{topic}", **query)["messages"]]


def abort(producer: Producer, topic: str) -> None:
    with contextlib.suppress(ZeroDivisionError), producer.transaction():
        producer.send(topic, b"dropped").result(10)
        raise ZeroDivisionError


def test_messages_of_aborted_transactions_are_not_shown_unless_asked_for(
    gateway: GatewayServer, bootstrap: str, unique: UniqueName
) -> None:
    topic = unique("transactions")
    with Admin(bootstrap_servers=bootstrap) as admin:
        admin.create_topic(topic, partitions=1)
    with Producer(bootstrap_servers=bootstrap, transactional_id=unique("writer")) as producer:
        with producer.transaction():
            producer.send(topic, b"kept")
        abort(producer, topic)
        with producer.transaction():
            producer.send(topic, b"kept too")
    # A transaction is committed before its markers have reached every partition.
    deadline = time.monotonic() + 10
    while texts(gateway, topic) != ["kept too", "kept"]:
        assert time.monotonic() < deadline
        time.sleep(0.02)
    assert texts(gateway, topic, isolation="read_uncommitted") == ["kept too", "dropped", "kept"]


def test_export_as_json_lines_has_every_message(gateway: GatewayServer, orders: str) -> None:
    lines = get_text(gateway.url, f"messages/{orders}/export", filter="$.order.total < 9").splitlines()
    exported = [json.loads(line) for line in lines]
    assert sorted(each["value"]["order"]["total"] for each in exported) == list(range(9))
    assert exported[0]["headers"][0][0] == "trace"


def test_export_as_csv_ends_at_its_limit(gateway: GatewayServer, orders: str) -> None:
    text = get_text(gateway.url, f"messages/{orders}/export", format="csv", limit=20)
    rows = list(csv.DictReader(io.StringIO(text)))
    assert len(rows) == 20
    assert rows[0]["timestamp"] == "2023-11-14T22:13:20.000+00:00"
    assert json.loads(rows[0]["value"])["order"]["total"] == 0


@pytest.mark.parametrize(
    ("topic", "status"), [("no-such-topic", 404), ("%E6%97%A5", 422), ("a%22%0D%0A", 422)]
)
def test_export_that_cannot_begin_is_refused_and_keeps_no_stream(
    gateway: GatewayServer, topic: str, status: int
) -> None:
    streams = gateway.gateway.streams
    wait_until(lambda: not streams.count, what="the streams of other tests have ended")
    told, answer = refusal(gateway.url, f"messages/{topic}/export")
    assert (told, topic == "no-such-topic") == (
        status,
        answer["message"] == "There is no topic 'no-such-topic'.",
    )
    assert not streams.count


@pytest.mark.parametrize("at", ["0001-01-01T00:00:00-14:00", "1969-12-31T23:59:59.999Z"])
def test_moment_before_1970_is_the_beginning(gateway: GatewayServer, orders: str, at: str) -> None:
    first = get(gateway.url, f"messages/{orders}", at="1970-01-01T00:00:00Z", limit=5)["messages"]
    assert get(gateway.url, f"messages/{orders}", at=at, limit=5)["messages"] == first
    assert 0 in totals(first)


def test_moment_beyond_all_years_is_the_end(gateway: GatewayServer, orders: str) -> None:
    page = get(gateway.url, f"messages/{orders}", since="9" * 20, limit=5)
    assert page["messages"] == []
