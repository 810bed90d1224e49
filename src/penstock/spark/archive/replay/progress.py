"""What is remembered of a replay between two tries: its plan, and which chunks are done.

The sink's own memory is what makes a chunk appear once. This only saves reading chunks again that are done,
and keeps the plan that their numbers refer to.
"""

import json
import re
from typing import NamedTuple

from penstock.model.errors import UsageError
from penstock.spark.archive.replay.plan import ReplayPlan, decode_plan, encode_plan
from penstock.spark.archive.stores.store import Store

_PLAN = "plan.json"
_DONE = re.compile(r"done-(\d{9})\.json")


class Done(NamedTuple):
    """What has been replayed already."""

    chunks: int
    records: int


class ReplayProgress:
    """The directory of one replay."""

    def __init__(self, store: Store) -> None:
        self._store = store

    def plan(self) -> ReplayPlan | None:
        """The plan that it began with; None if it has not begun."""
        try:
            data = self._store.read(_PLAN)
        except FileNotFoundError:
            return None
        return decode_plan(data, path=self._store.uri(_PLAN))

    def begin(self, plan: ReplayPlan) -> None:
        """Keep a plan; nobody else may have begun meanwhile."""
        if not self._store.create(_PLAN, encode_plan(plan)):
            raise UsageError(f"Somebody else has just begun the replay in {self._store.uri('')}.")

    def done(self) -> Done:
        """All chunks up to the last that is known to be done."""
        names = [name for name in self._store.names("") if _DONE.fullmatch(name)]
        if not names:
            return Done(0, 0)
        last = json.loads(self._store.read(names[-1]))
        return Done(last["chunks"], last["records"])

    def finish(self, chunk: int, *, records: int) -> Done:
        """Note that a chunk is done, with so many records."""
        before = self.done()
        after = Done(chunk + 1, before.records + records)
        self._store.create(_name(chunk), json.dumps(after._asdict()).encode())
        if chunk > 0:
            self._store.delete(_name(chunk - 1))
        return after


def _name(chunk: int) -> str:
    return f"done-{chunk:09d}.json"
