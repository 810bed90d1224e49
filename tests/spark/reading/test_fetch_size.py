"""How much a broker is asked for."""

from penstock.model.ids import TopicPartition
from penstock.spark.reading.fetch_size import EDGES_BYTES, RECORD_BYTES_GUESSED, bytes_to_ask, note_size

SOME = TopicPartition("sized", 0)


def test_what_was_never_seen_is_guessed() -> None:
    asked = bytes_to_ask(TopicPartition("never-seen", 0), 1_000, at_most=10**9)
    assert 1_000 * RECORD_BYTES_GUESSED < asked < 2_000 * RECORD_BYTES_GUESSED


def test_what_was_seen_is_remembered_and_has_room_to_spare() -> None:
    note_size(SOME, 100, 1_000_000)
    assert 10_000_000 < bytes_to_ask(SOME, 1_000, at_most=10**9) < 20_000_000
    note_size(SOME, 100, 20_000)
    assert 200_000 < bytes_to_ask(SOME, 1_000, at_most=10**9) < 400_000


def test_asking_has_bounds() -> None:
    note_size(SOME, 1, 1)
    assert EDGES_BYTES < bytes_to_ask(SOME, 1, at_most=10**9) < 2 * EDGES_BYTES
    assert bytes_to_ask(SOME, 1, at_most=1_000) == 1_000
    assert bytes_to_ask(SOME, 10**9, at_most=5_000_000) == 5_000_000
