from hypothesis import given, settings
from hypothesis import strategies as st

from penstock.storage.tail_cache import BATCHES_PER_READ_MAX, LogTail, TailCache


def fill(tail: LogTail, *sizes: int, first_offset: int = 0) -> list[bytes]:
    """Batches of ten offsets each."""
    batches = [bytes([number % 256]) * size for number, size in enumerate(sizes)]
    for number, batch in enumerate(batches):
        tail.append(first_offset + number * 10, len(batch), batch)
    return batches


def test_read_begins_with_the_batch_that_contains_the_offset() -> None:
    tail = TailCache(1_000).tail()
    batches = fill(tail, 10, 20, 30)
    assert tail.read(15, 30, 1_000) == (batches[1:], 50, False)


def test_read_stops_at_the_end_offset() -> None:
    tail = TailCache(1_000).tail()
    batches = fill(tail, 10, 20, 30)
    assert tail.read(0, 20, 1_000) == (batches[:2], 30, False)
    assert tail.read(20, 20, 1_000) == ([], 0, False)


def test_read_returns_whole_batches_up_to_the_limit_and_at_least_one() -> None:
    tail = TailCache(1_000).tail()
    batches = fill(tail, 10, 20, 30)
    assert tail.read(0, 30, 59) == (batches[:2], 30, True)
    assert tail.read(0, 30, 1) == (batches[:1], 10, True)


def test_read_before_the_tail_is_for_the_file() -> None:
    tail = TailCache(1_000).tail()
    fill(tail, 10, first_offset=100)
    assert tail.read(99, 110, 1_000) is None
    assert TailCache(1_000).tail().read(0, 10, 10) is None


def test_nothing_is_copied() -> None:
    tail = TailCache(1_000).tail()
    batch = bytearray(b"x" * 10)
    tail.append(0, 10, batch)
    found = tail.read(0, 10, 100)
    assert found is not None
    assert found[0][0] is batch


def test_very_many_small_batches_are_for_the_file() -> None:
    tail = TailCache(100_000).tail()
    fill(tail, *[1] * (BATCHES_PER_READ_MAX + 1))
    assert tail.read(0, 10**6, 10_000) is None
    found = tail.read(10, 10**6, 10_000)
    assert found is not None
    assert found[1] == BATCHES_PER_READ_MAX
    assert tail.read(0, 10**6, 100) is not None


def test_nothing_is_read_from_memory_while_slow_readers_keep_too_much_of_it() -> None:
    cache = TailCache(100)
    tail = cache.tail()
    tail.append(0, 10, b"a" * 10)
    cache.lent_bytes = 100
    assert tail.read(0, 10, 100) is not None
    cache.lent_bytes = 101
    assert tail.read(0, 10, 100) is None


def test_oldest_batch_of_all_logs_leaves_first() -> None:
    cache = TailCache(30)
    one, two = cache.tail(), cache.tail()
    one.append(0, 10, b"a" * 10)
    two.append(0, 10, b"b" * 10)
    one.append(10, 10, b"c" * 10)
    two.append(10, 10, b"d" * 10)
    assert (len(one), len(two)) == (1, 2)
    assert one.read(0, 20, 100) is None
    assert one.read(10, 20, 100) == ([b"c" * 10], 10, False)
    assert cache.size_bytes == 30


def test_batch_larger_than_the_cache_is_not_kept() -> None:
    cache = TailCache(5)
    tail = cache.tail()
    fill(tail, 10)
    assert len(tail) == 0
    assert cache.size_bytes == 0


def test_cleared_tail_keeps_new_batches_while_old_ones_are_counted_out() -> None:
    cache = TailCache(30)
    tail = cache.tail()
    fill(tail, 10, 10, 10)
    tail.clear()
    tail.append(100, 10, b"n" * 10)
    tail.append(110, 10, b"m" * 10)
    assert tail.read(100, 200, 100) == ([b"n" * 10, b"m" * 10], 20, False)


@settings(deadline=None)
@given(
    st.lists(st.tuples(st.integers(0, 2), st.integers(1, 40), st.booleans()), max_size=2_000),
    st.integers(0, 200),
)
def test_each_tail_is_a_run_up_to_its_end_and_all_fit(
    steps: list[tuple[int, int, bool]], capacity_bytes: int
) -> None:
    cache = TailCache(capacity_bytes)
    tails = [cache.tail() for _ in range(3)]
    logs: list[list[tuple[int, int]]] = [[], [], []]
    for number, size, clears in steps:
        if clears and size == 40:
            tails[number].clear()
        tails[number].append(len(logs[number]), size, bytes(size))
        logs[number].append((len(logs[number]), size))
        assert cache.size_bytes <= capacity_bytes
    for tail, log in zip(tails, logs, strict=True):
        kept = log[len(log) - len(tail) :]
        if kept:
            found = tail.read(kept[0][0], len(log), 10**9)
            if found is not None:
                assert [len(batch) for batch in found[0]] == [size for _, size in kept][: len(found[0])]
            assert tail.read(kept[0][0] - 1, len(log), 10**9) is None


def test_long_lived_tail_does_not_grow() -> None:
    tail = TailCache(100).tail()
    fill(tail, *[10] * 5_000)
    assert len(tail) == 10
    assert tail.read(49_985, 50_000, 100) is not None
    assert tail.read(49_000, 50_000, 100) is None
