from penstock.broker.metrics.flush_meter import FlushMeter
from penstock.model.ids import Millis


class StandingClock:
    """Moves when it is told to."""

    def __init__(self) -> None:
        self.now = 100.0

    def monotonic(self) -> float:
        return self.now

    def wall_ms(self) -> Millis:
        return Millis(0)


def test_round_is_measured_from_its_beginning_to_its_end() -> None:
    clock = StandingClock()
    meter = FlushMeter(clock)
    meter.round_began()
    clock.now += 0.25
    meter.round_ended(3)
    assert meter.latency.count == 1
    assert meter.latency.total_seconds == 0.25
    assert meter.logs_flushed == 3
