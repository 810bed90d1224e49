"""Settings that were acknowledged hold: the last one, or one about which nobody knows."""

from collections.abc import Iterator

from penstock.sim.checkers.evidence import Evidence
from penstock.sim.workloads.history import Ending, Function


def check(evidence: Evidence) -> Iterator[str]:
    """Compare the final settings with what was set; a change in doubt may take effect at any time."""
    last: dict[str, object] = {}
    doubtful: dict[str, set[object]] = {}
    for change in evidence.history.of(Function.SET_CONFIG):
        if change.is_ok:
            last[change.key] = change.value[0]
        elif change.ending is not Ending.FAIL:
            doubtful.setdefault(change.key, set()).add(change.value[0])
    for key, value in last.items():
        found = evidence.configs.get(key)
        if found != value and found not in doubtful.get(key, set()):
            yield f"{key} was set to {value}, and is {found}"
