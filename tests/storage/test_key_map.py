from hypothesis import given
from hypothesis.strategies import binary, booleans, lists, none, tuples

from penstock.storage.key_map import BYTES_PER_KEY, SUPERSEDED, TOMBSTONE, VALUE, KeyMap

BUDGET = 1 << 20


def filled(*batches: list[tuple[bytes | None, bool]]) -> KeyMap:
    made = KeyMap(BUDGET)
    for batch in batches:
        made.add([key for key, _ in batch], bytearray(is_tombstone for _, is_tombstone in batch))
    return made


def test_newest_record_of_a_key_supersedes_older_ones() -> None:
    made = filled([(b"a", False), (b"b", False), (b"a", True)], [(b"b", False)])
    assert list(made.fates) == [SUPERSEDED, SUPERSEDED, TOMBSTONE, VALUE]
    assert len(made) == 2


def test_record_without_key_counts_for_nothing() -> None:
    assert list(filled([(None, False), (b"", False)]).fates) == [SUPERSEDED, VALUE]


def test_skipped_records_supersede_nothing() -> None:
    made = filled([(b"a", False)])
    made.skip(2)
    made.add([b"b"], bytearray(1))
    assert list(made.fates) == [VALUE, SUPERSEDED, SUPERSEDED, VALUE]


def test_older_records_are_asked_about_by_key() -> None:
    made = filled([(b"a", False), (b"k" * 40, True)])
    older = made.fates_of_older([b"a", b"b", None, b"k" * 40, b"c"], bytearray([0, 0, 0, 0, 1]))
    assert list(older) == [SUPERSEDED, VALUE, SUPERSEDED, SUPERSEDED, TOMBSTONE]


def test_map_says_when_it_is_full_but_takes_any_first_batch() -> None:
    made = KeyMap(8 * BYTES_PER_KEY)
    assert made.key_capacity == 7
    assert made.has_room_for(1_000)
    made.add([b"%d" % number for number in range(6)], bytearray(6))
    assert made.has_room_for(1)
    assert not made.has_room_for(2)


def test_map_is_full_of_records_even_of_few_keys() -> None:
    made = KeyMap(8_000)
    made.add([b"a"] * 1_000, bytearray(1_000))
    assert not made.has_room_for(1)


@given(lists(lists(tuples(none() | binary(max_size=2) | binary(min_size=30, max_size=34), booleans()))))
def test_fates_are_those_of_a_dictionary(batches: list[list[tuple[bytes | None, bool]]]) -> None:
    records = [record for batch in batches for record in batch]
    newest = {key: number for number, (key, _) in enumerate(records)}
    expected = [
        SUPERSEDED if newest.get(key) != number or key is None else TOMBSTONE if is_tombstone else VALUE
        for number, (key, is_tombstone) in enumerate(records)
    ]
    assert list(filled(*batches).fates) == expected
