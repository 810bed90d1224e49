"""Chunks: everything once, in order, and the same whenever they are asked for."""

import json
from dataclasses import replace

import pytest
from hypothesis import given
from hypothesis import strategies as st

from penstock.spark.archive.errors import DamagedArchiveError
from penstock.spark.archive.intervals import Interval
from penstock.spark.archive.replay.plan import Phase, ReplayPlan, decode_plan, encode_plan, replay_name

SOURCE = {"archive": "there", "topic": "orders", "since_ms": None, "until_ms": 5, "offsets": {"0": [1, 2]}}


def a_plan(*phases: Phase, chunk_size: int = 10) -> ReplayPlan:
    return ReplayPlan(
        source=SOURCE,
        target="again",
        phases=phases,
        chunk_size=chunk_size,
        task_count=2,
        keeps_partitions=True,
        name="known",
    )


RANGES = st.dictionaries(
    st.integers(0, 5),
    st.builds(lambda start, size: Interval(start, start + size), st.integers(0, 50), st.integers(1, 40)),
)
PHASES = st.lists(RANGES.filter(bool), max_size=3).map(
    lambda many: tuple(Phase(number, ranges) for number, ranges in enumerate(many))
)


@given(PHASES, st.integers(1, 30))
def test_chunks_have_every_offset_once_and_in_order(phases: tuple[Phase, ...], chunk_size: int) -> None:
    plan = a_plan(*phases, chunk_size=chunk_size)
    chunks = [plan.chunk(number).phase for number in range(plan.chunk_count)]

    assert [chunk.incarnation for chunk in chunks] == sorted(chunk.incarnation for chunk in chunks)
    for phase in phases:
        for partition, (start, end) in phase.ranges.items():
            found = [
                offset
                for chunk in chunks
                if chunk.incarnation == phase.incarnation and partition in chunk.ranges
                for offset in range(*chunk.ranges[partition])
            ]
            assert found == list(range(start, end))


@given(PHASES, st.integers(1, 30))
def test_chunks_are_about_as_large_as_wanted(phases: tuple[Phase, ...], chunk_size: int) -> None:
    plan = a_plan(*phases, chunk_size=chunk_size)

    for number in range(plan.chunk_count):
        phase = plan.chunk(number).phase
        assert phase.size <= chunk_size + len(phase.ranges)


def test_partitions_go_on_beside_each_other() -> None:
    plan = a_plan(Phase(0, {0: Interval(0, 100), 1: Interval(1000, 1010)}), chunk_size=55)

    assert plan.chunk_count == 2
    assert plan.chunk(0).phase.ranges == {0: (0, 50), 1: (1000, 1005)}
    assert plan.chunk(1).phase.ranges == {0: (50, 100), 1: (1005, 1010)}
    with pytest.raises(IndexError):
        plan.chunk(2)


@given(PHASES)
def test_plan_survives_being_written(phases: tuple[Phase, ...]) -> None:
    plan = a_plan(*phases)

    assert decode_plan(encode_plan(plan), path="x") == plan


def test_plan_without_a_name_is_understood() -> None:
    document = json.loads(encode_plan(a_plan()))
    del document["name"]

    assert decode_plan(json.dumps(document).encode(), path="x") == replace(a_plan(), name="")


def test_plan_of_a_newer_version_is_refused() -> None:
    with pytest.raises(DamagedArchiveError, match="x has format 99"):
        decode_plan(b'{"format": 99}', path="x")


def test_name_is_the_same_for_the_same_request_only() -> None:
    name = replay_name(SOURCE, "again")

    assert name.startswith("orders-")
    assert name == replay_name(dict(reversed(SOURCE.items())), "again")
    assert name != replay_name(SOURCE, "elsewhere")
    assert name != replay_name({**SOURCE, "until_ms": 6}, "again")
