"""What two looks at a cluster tell: rates, sizes and lags."""

from penstock.gateway.console.sampling.sample import Sample, is_internal, rates
from penstock.model.ids import TopicPartition

FIRST, SECOND = TopicPartition("orders", 0), TopicPartition("orders", 1)


def sample(time_ms: int, *ends: int, committed: dict[str, dict[TopicPartition, int]] | None = None) -> Sample:
    found = dict(zip((FIRST, SECOND), ends, strict=False))
    sizes = {where: 10 * end for where, end in found.items()}
    return Sample(time_ms=time_ms, ends=found, sizes=sizes, committed=committed or {})


def test_rates_are_records_a_second_between_two_samples() -> None:
    assert rates(sample(1_000, 100, 50), sample(3_000, 140, 50)) == {FIRST: 20.0, SECOND: 0.0}


def test_rates_leave_out_what_is_new_and_what_began_anew() -> None:
    assert rates(sample(1_000, 100), sample(3_000, 140, 50)) == {FIRST: 20.0}
    assert rates(sample(1_000, 100, 50), sample(3_000, 20, 60)) == {SECOND: 5.0}


def test_rates_of_one_moment_are_none() -> None:
    assert rates(sample(1_000, 100), sample(1_000, 140)) == {}


def test_sizes_are_added_up_by_topic() -> None:
    assert sample(1, 4, 6).topic_sizes() == {"orders": 100}


def test_lags_count_what_is_left_and_never_below_zero() -> None:
    gone = TopicPartition("gone", 0)
    committed = {
        "slow": {FIRST: 90, SECOND: 40, gone: 5},
        "ahead": {FIRST: 120},
        "idle": {},
    }
    seen = sample(1, 100, 50, committed=committed)

    assert seen.lags() == {"slow": 20, "ahead": 0}
    assert seen.groups_of("orders") == ["slow", "ahead"]
    assert seen.lag_in("slow", "gone") == 0
    assert seen.lag_in("slow", "orders") == 20


def test_internal_topics_are_known_by_their_names() -> None:
    assert is_internal("__consumer_offsets")
    assert not is_internal("orders")
