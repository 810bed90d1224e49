"""Who may connect."""

from penstock.broker.connection_limits import ConnectionLimits


def limits(total: int = 100, per_address: int = 100, rate: int = 1000) -> ConnectionLimits:
    return ConnectionLimits(total_max=total, per_address_max=per_address, creation_rate_max=rate)


def test_limits_total_reached_names_the_setting() -> None:
    subject = limits(total=2)
    assert [subject.admit(str(n), 0.0) for n in range(3)] == [None, None, "max.connections=2"]
    subject.leave("0")
    assert subject.admit("9", 0.0) is None


def test_limits_one_address_cannot_take_all() -> None:
    subject = limits(per_address=1)
    assert subject.admit("10.0.0.1", 0.0) is None
    assert subject.admit("10.0.0.1", 0.0) == "max.connections.per.ip=1"
    assert subject.admit("10.0.0.2", 0.0) is None
    assert subject.refused == 1


def test_limits_creation_rate_refills_with_time() -> None:
    subject = limits(rate=2)
    assert [subject.admit("a", 0.0) for _ in range(3)] == [None, None, "max.connection.creation.rate=2"]
    assert subject.admit("a", 0.4) == "max.connection.creation.rate=2"
    assert subject.admit("a", 0.6) is None


def test_limits_changed_while_it_runs_count_from_then_on() -> None:
    subject = limits(total=10)
    assert [subject.admit("a", 0) for _ in range(3)] == [None] * 3

    subject.change(total_max=2, per_address_max=100, creation_rate_max=1000)

    assert subject.admit("b", 0) == "max.connections=2"
    assert subject.total == 3
    subject.leave("a")
    subject.leave("a")
    assert subject.admit("b", 0) is None
