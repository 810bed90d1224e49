import pytest

from penstock.config.definition import ConfigError
from penstock.config.sources import load_broker_config


@pytest.mark.parametrize(
    ("flags", "complaint"),
    [
        (
            {"group.min.session.timeout.ms": "9000", "group.max.session.timeout.ms": "8999"},
            "group.min.session.timeout.ms: must be at most group.max.session.timeout.ms, which is 8999",
        ),
        (
            {"group.consumer.heartbeat.interval.ms": "45000"},
            "group.consumer.heartbeat.interval.ms: must be below group.consumer.session.timeout.ms",
        ),
        ({"group.consumer.assignors": ""}, "must be a list of some of uniform, range"),
    ],
)
def test_settings_with_which_no_group_could_work_are_refused(flags: dict[str, str], complaint: str) -> None:
    with pytest.raises(ConfigError, match=complaint):
        load_broker_config(flags=flags)
