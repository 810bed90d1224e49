"""Settings of copies: those of the originals, but for what is about brokers or about times."""

from hypothesis import given
from hypothesis import strategies as st

from penstock.spark.mirror.config_difference import carried, difference

NAMES = ("retention.ms", "cleanup.policy", "min.insync.replicas", "message.timestamp.type", "segment.bytes")
CONFIGS = st.dictionaries(st.sampled_from(NAMES), st.sampled_from(("1", "2", "3")))


def test_only_what_differs_is_changed() -> None:
    source = {"retention.ms": "1", "cleanup.policy": "compact", "min.insync.replicas": "2"}
    target = {"retention.ms": "1", "segment.bytes": "9", "message.timestamp.type": "CreateTime"}

    assert difference(source, target) == {"cleanup.policy": "compact", "segment.bytes": None}


@given(CONFIGS, CONFIGS)
def test_changes_make_them_equal_and_leave_the_targets_own_alone(
    source: dict[str, str], target: dict[str, str]
) -> None:
    changes = difference(source, target)
    after = {**target, **{name: value for name, value in changes.items() if value is not None}}
    for name in changes:
        if changes[name] is None:
            del after[name]

    assert carried(after) == carried(source)
    for name in ("min.insync.replicas", "message.timestamp.type"):
        assert after.get(name) == target.get(name)
