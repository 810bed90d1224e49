"""Transactions happen as a whole or not at all (I13): a commit shows every record, all else none."""

from collections.abc import Iterator

from penstock.sim.checkers.evidence import Evidence, transactions


def check(evidence: Evidence) -> Iterator[str]:
    """Look for each transaction's records in what readers of committed records get in the end."""
    committed = {name: {value for _, value in log.committed} for name, log in evidence.logs.items()}
    for name, fate in transactions(evidence.history).items():
        seen: list[object] = []
        missing: list[object] = []
        for send in fate.sends:
            for value in send.value if send.is_ok and send.key in committed else ():
                (seen if value in committed[send.key] else missing).append(value)
        if fate.is_committed and missing:
            yield f"{name} was committed, but {missing[0]} is missing"
        elif fate.may_be_committed and seen and missing:
            yield f"{name} is torn: {seen[0]} is there, {missing[0]} is not"
