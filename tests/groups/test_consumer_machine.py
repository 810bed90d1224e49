"""Random clients of both protocols, lost answers, crashes and changing topics, against one group.

After every step the shard says whether its own state makes sense; here it is checked against what clients
believe: nobody has what the coordinator does not know it has, so that no two ever have the same. When all is
quiet the group comes to rest with everything assigned.
"""

import re
from collections.abc import Iterator

import hypothesis.strategies as st
import pytest
from hypothesis import HealthCheck, settings
from hypothesis.stateful import RuleBasedStateMachine, invariant, precondition, rule
from tests.groups.actors import GROUP
from tests.groups.eager import Eager
from tests.groups.modern import Modern
from tests.groups.shell import FixedTopics, Shell

from penstock.groups.consumer.consumer_group import ConsumerGroup
from penstock.groups.consumer.ledger import Ledger
from penstock.groups.group import GroupKind
from penstock.groups.partitions import TopicIdPartition
from penstock.groups.settings import GroupSettings
from penstock.model.error_codes import ErrorCode
from penstock.model.ids import TopicId

TOPICS = ("orders", "payments", "parcels")
SUBSCRIPTIONS = (("orders",), ("orders", "payments"), ("payments", "nowhere"), TOPICS)
PATTERNS = (None, "p.*", "nothing-.*")
STATIC_TOPICS = {"i1": ("orders",), "i2": ("orders", "payments")}
"""Of static members of the classic protocol, every time they come. One that comes back to a classic group
with other topics takes up its old part without a rebalance, as with Kafka, and nobody has the rest."""


class Machine(RuleBasedStateMachine):
    """One group and everybody who ever wanted into it."""

    def __init__(self) -> None:
        super().__init__()
        self.numbers = iter(range(1, 10_000))
        self.counts = {"orders": 4, "payments": 2}
        self.ids = {name: self.new_topic_id() for name in self.counts}
        self.shell = Shell(settings=GroupSettings(group_initial_rebalance_delay_ms=0), topics=self.topics())
        self.modern: dict[str, Modern] = {}
        self.eager: dict[str, Eager] = {}
        self.epochs: dict[str, int] = {}
        self.group_epoch = 0
        #: Once a group has been something else in between, its epochs begin anew.
        self.seen_ledger: Ledger | None = None

    def new_topic_id(self) -> TopicId:
        return TopicId(next(self.numbers).to_bytes(16, "big"))

    def topics(self) -> FixedTopics:
        return FixedTopics(dict(self.counts), dict(self.ids))

    @rule(
        topics=st.sampled_from(SUBSCRIPTIONS),
        pattern=st.sampled_from(PATTERNS),
        assignor=st.sampled_from([None, "range", "uniform"]),
        instance=st.sampled_from([None, None, "i1", "i2"]),
    )
    def come(
        self, topics: tuple[str, ...], pattern: str | None, assignor: str | None, instance: str | None
    ) -> None:
        name = f"m{next(self.numbers)}"
        if len(self.modern) < 5:
            self.modern[name] = Modern(
                self.shell, name, instance=instance, topics=topics, pattern=pattern, assignor=assignor
            )

    @rule(topics=st.sampled_from(SUBSCRIPTIONS), instance=st.sampled_from([None, None, "i1", "i2"]))
    def come_classic(self, topics: tuple[str, ...], instance: str | None) -> None:
        name = f"c{next(self.numbers)}"
        if len(self.eager) < 4:
            wanted = topics if instance is None else STATIC_TOPICS[instance]
            self.eager[name] = Eager(self.shell, name, instance=instance, topics=wanted)

    @precondition(lambda self: self.modern)
    @rule(data=st.data(), is_lost=st.booleans())
    def beat(self, data: st.DataObject, is_lost: bool) -> None:
        self.modern[data.draw(st.sampled_from(sorted(self.modern)))].beat(is_lost=is_lost)

    @rule(count=st.integers(1, 4), is_lost=st.booleans())
    def work(self, count: int, is_lost: bool) -> None:
        """Everybody does what it would, a few times; the last answers may be lost."""
        for number in range(count):
            for modern in self.modern.values():
                modern.beat(is_lost=is_lost and number == count - 1)
            for eager in self.eager.values():
                eager.act()
            self.shell.wait(500)

    @precondition(lambda self: self.modern)
    @rule(data=st.data(), topics=st.sampled_from(SUBSCRIPTIONS), pattern=st.sampled_from(PATTERNS))
    def subscribe(self, data: st.DataObject, topics: tuple[str, ...], pattern: str | None) -> None:
        client = self.modern[data.draw(st.sampled_from(sorted(self.modern)))]
        client.topics, client.pattern, client.is_unsure = topics, pattern or "", True

    @precondition(lambda self: self.modern)
    @rule(data=st.data(), how=st.sampled_from(["leave", "away", "die"]))
    def go(self, data: st.DataObject, how: str) -> None:
        client = self.modern.pop(data.draw(st.sampled_from(sorted(self.modern))))
        if how == "leave" and client.epoch:
            client.leave()
        elif how == "away" and client.epoch and client.instance:
            client.go_away()

    @precondition(lambda self: self.eager)
    @rule(data=st.data(), count=st.integers(1, 3))
    def act(self, data: st.DataObject, count: int) -> None:
        client = self.eager[data.draw(st.sampled_from(sorted(self.eager)))]
        for _ in range(count):
            client.act()

    @precondition(lambda self: self.eager)
    @rule(data=st.data(), is_polite=st.booleans())
    def go_classic(self, data: st.DataObject, is_polite: bool) -> None:
        client = self.eager.pop(data.draw(st.sampled_from(sorted(self.eager))))
        if is_polite:
            client.leave()

    @rule(name=st.sampled_from(TOPICS), how=st.sampled_from(["grow", "delete", "make"]))
    def change_topic(self, name: str, how: str) -> None:
        if how == "grow" and 0 < self.counts.get(name, 0) < 6:
            self.counts[name] += 1
        elif how == "delete" and name in self.counts:
            del self.counts[name], self.ids[name]
        elif how == "make" and name not in self.counts:
            self.counts[name], self.ids[name] = 3, self.new_topic_id()
        self.shell.change_topics(self.topics())

    @rule(duration_ms=st.sampled_from([1_000, 11_000, 50_000]))
    def wait(self, duration_ms: int) -> None:
        self.shell.wait(duration_ms)

    @rule()
    def crash(self) -> None:
        self.shell.crash()
        if self.seen_ledger is not None:
            self.seen_ledger = self.ledger()
        for client in self.eager.values():
            client.hang_up()

    @rule()
    def quiet(self) -> None:
        """Without faults everybody gets what it is to have, and everything somebody wants is had."""
        clients: list[Modern | Eager] = [*self.modern.values(), *self.eager.values()]
        static = [
            client.instance
            for client in clients
            if client.instance is not None and not (isinstance(client, Eager) and client.failed_with)
        ]
        if len(static) > len(set(static)):
            return  # They fight for a place, and always will.
        for _ in range(40):
            for client in clients:
                client.beat() if isinstance(client, Modern) else client.act()
            self.shell.wait(2_000)
        # Who lost its place to another instance, even to one that is gone, has given up.
        failures = {client.failed_with for client in self.eager.values()}
        assert failures <= {ErrorCode.NONE, ErrorCode.FENCED_INSTANCE_ID}
        self.eager = {name: client for name, client in self.eager.items() if not client.failed_with}
        if self.modern or self.eager:
            self.check_rest()

    def check_rest(self) -> None:
        group = self.shell.shard._state.groups[GROUP]
        assert group.kind == (GroupKind.CONSUMER if self.modern else GroupKind.CLASSIC)
        assert group.state_name == "Stable"
        clients: list[Modern | Eager] = [*self.modern.values(), *self.eager.values()]
        names = {name for client in clients for name in client.topics or ()}
        for pattern in filter(None, (client.pattern for client in self.modern.values())):
            names.update(name for name in self.counts if re.fullmatch(pattern, name))
        wanted = {
            (self.ids[name], number)
            for name in names & self.counts.keys()
            for number in range(self.counts[name])
        }
        owned = [partition for client in clients for partition in client.owned]
        assert len(owned) == len(set(owned))
        assert set(owned) == wanted

    def ledger(self) -> Ledger | None:
        group = self.shell.shard._state.groups.get(GROUP)
        return group.ledger if isinstance(group, ConsumerGroup) else None

    def parts(self) -> Iterator[tuple[str, set[TopicIdPartition]]]:
        for modern in self.modern.values():
            if modern.epoch:
                yield modern.member_id, set(modern.owned)
        for eager in self.eager.values():
            yield eager.member_id, set(eager.owned)

    @invariant()
    def nobody_has_what_the_coordinator_does_not_know(self) -> None:
        ledger = self.ledger()
        if ledger is None:
            return
        for member_id, owned in self.parts():
            member = ledger.members.get(member_id)
            if member is not None and not member.is_away:
                held = {*member.progress.assigned, *member.progress.revoking}
                existing = {partition for partition in owned if partition[0] in self.ids.values()}
                assert existing <= held, member_id

    @invariant()
    def epochs_only_grow(self) -> None:
        ledger = self.ledger()
        if ledger is None or ledger is not self.seen_ledger:
            self.seen_ledger, self.group_epoch = ledger, 0
            self.epochs.clear()
        if ledger is None:
            return
        assert ledger.epoch >= self.group_epoch
        self.group_epoch = ledger.epoch
        for member_id, member in ledger.members.items():
            epoch = member.progress.epoch
            assert member.is_away or epoch >= self.epochs.get(member_id, 0)
            self.epochs[member_id] = epoch


Machine.TestCase.settings = settings(
    max_examples=60, stateful_step_count=40, deadline=None, suppress_health_check=list(HealthCheck)
)
TestConsumerMachine = pytest.mark.slow(Machine.TestCase)
