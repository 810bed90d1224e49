from random import Random

from hypothesis import given
from hypothesis import strategies as st

from penstock.storage.memory_nodes import (
    PENDING_OPERATIONS_MAX,
    SECTOR_BYTES,
    DirectoryNode,
    FileNode,
    Link,
    Rename,
    Unlink,
)

SEEDS = range(300)


def flushed_file(content: bytes) -> FileNode:
    node = FileNode()
    node.write(0, content)
    node.flush()
    return node


def test_power_loss_without_pending_operations_changes_nothing() -> None:
    node = flushed_file(b"durable")
    node.lose_power(Random(1))
    assert node.cached == b"durable"


def test_power_loss_keeps_drops_or_tears_an_unflushed_append() -> None:
    outcomes = set()
    for seed in SEEDS:
        node = flushed_file(b"a" * 100)
        node.write(100, b"b" * 2000)
        node.lose_power(Random(seed))
        assert node.cached[:100] == b"a" * 100
        outcomes.add(bytes(node.cached))
    sizes = {len(outcome) for outcome in outcomes}
    assert 100 in sizes, "the write was never dropped"
    assert 2100 in sizes, "the write was never kept"
    assert any(len(o) == 2100 and 0 in o for o in outcomes), "the size never grew over missing bytes"
    assert any(100 < size < 2100 for size in sizes), "the write was never cut"


def test_power_loss_tears_only_where_sectors_begin() -> None:
    for seed in SEEDS:
        node = flushed_file(bytes(4096))
        node.write(700, b"x" * 3000)
        node.lose_power(Random(seed))
        changes = [
            at for at in range(1, 4096) if node.cached[at] != node.cached[at - 1] and at not in (700, 3700)
        ]
        assert all(at % SECTOR_BYTES == 0 for at in changes)


def test_power_loss_may_undo_a_truncation_under_a_newer_write() -> None:
    """Why a truncation must be flushed before the file is written again."""

    def has_stale_tail(seed: int) -> bool:
        node = flushed_file(b"old" * 400)
        node.resize(0)
        node.write(0, b"new" * 100)
        node.lose_power(Random(seed))
        return bytes(node.cached) == b"new" * 100 + b"old" * 300

    assert any(has_stale_tail(seed) for seed in SEEDS)


def test_power_loss_may_keep_a_later_write_and_lose_an_earlier() -> None:
    def kept_later_only(seed: int) -> bool:
        node = flushed_file(bytes(2))
        node.write(0, b"1")
        node.write(1, b"2")
        node.lose_power(Random(seed))
        return bytes(node.cached) == b"\0002"

    assert any(kept_later_only(seed) for seed in SEEDS)


def test_failed_flush_leaves_bytes_readable_but_the_next_flush_saves_nothing() -> None:
    def is_lost(seed: int) -> bool:
        node = flushed_file(b"")
        node.write(0, b"pending")
        node.fail_flush(Random(seed))
        assert node.cached == b"pending"
        node.flush()
        node.lose_power(Random(seed))
        return node.cached == b""

    assert any(is_lost(seed) for seed in SEEDS)


def test_rewriting_after_a_failed_flush_makes_bytes_durable() -> None:
    """The repair that a start after an unclean stop relies on."""
    for seed in range(50):
        node = flushed_file(b"")
        node.write(0, b"pending")
        node.fail_flush(Random(seed))
        node.write(0, bytes(node.cached))
        node.flush()
        node.lose_power(Random(seed))
        assert node.cached == b"pending"


def test_pending_operations_are_bounded_by_writing_back_the_oldest() -> None:
    node = FileNode()
    for number in range(PENDING_OPERATIONS_MAX + 10):
        node.write(number, b"x")
    assert len(node.pending) == PENDING_OPERATIONS_MAX
    assert node.durable == b"x" * 10


def test_directory_power_loss_keeps_some_first_part_of_its_changes() -> None:
    seen = set()
    for seed in SEEDS:
        directory = DirectoryNode()
        directory.change(Link("a", FileNode()))
        directory.sync()
        directory.change(Rename("a", "b"))
        directory.change(Link("c", FileNode()))
        directory.change(Unlink("b"))
        directory.lose_power(Random(seed))
        seen.add(tuple(sorted(directory.entries)))
    assert seen == {("a",), ("b",), ("b", "c"), ("c",)}


def test_directory_power_loss_reaches_everything_below() -> None:
    directory, file = DirectoryNode(), FileNode()
    directory.change(Link("file", file))
    directory.sync()
    for number in range(64):
        file.write(number, b"x")
    directory.lose_power(Random(1))
    assert file.pending == []
    assert file.cached != b"x" * 64


write = st.tuples(st.just("write"), st.integers(0, 3000), st.binary(max_size=2000))
resize = st.tuples(st.just("resize"), st.integers(0, 4000), st.just(b""))


@given(before=st.lists(write | resize), after=st.lists(write | resize), seed=st.integers())
def test_flushed_state_survives_when_nothing_came_after_and_bytes_are_never_invented(
    before: list[tuple[str, int, bytes]], after: list[tuple[str, int, bytes]], seed: int
) -> None:
    node, model = FileNode(), bytearray()
    possible = [{0} for _ in range(6000)]

    def perform(kind: str, position: int, data: bytes) -> None:
        if kind == "resize":
            node.resize(position)
            del model[position:]
            model.extend(bytes(position - len(model)))
        else:
            node.write(position, data)
            if len(model) < position:
                model.extend(bytes(position - len(model)))
            model[position : position + len(data)] = data
            for index, value in enumerate(data):
                possible[position + index].add(value)

    for operation in before:
        perform(*operation)
    assert node.cached == model
    node.flush()
    assert node.durable == model
    for operation in after:
        perform(*operation)
    assert node.cached == model
    node.lose_power(Random(seed))
    if not after:
        assert node.cached == model
    assert node.cached == node.durable
    assert all(value in possible[index] for index, value in enumerate(node.cached))
