"""Exactly once: a copy loop in transactions whose copiers and broker are killed over and over.

``PENSTOCK_KILL_ROUNDS`` asks for the long run. The moments are drawn from a fixed seed, as numbers of steps
to wait for, so that a slow machine is struck at the same points of its work as a fast one.
"""

import random
import time
from collections import defaultdict
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from confluent_kafka import TopicPartition
from tests.broker_process import Server, wait_until
from tests.chaos.copier import COPIED, GIVEN_UP
from tests.chaos.vitals import IS_LONG_RUN, KILL_ROUNDS, TRACEBACK, long_run
from tests.conftest import MakeServer
from tests.interop.confluent import admin_client, consumer, create_topic, read_all
from tests.interop.feed import Feed
from tests.lively_broker import LIVELY
from tests.telling_process import TellingProcess, python_command

pytestmark = [
    pytest.mark.chaos,
    pytest.mark.slow,
    pytest.mark.timeout(900),
]

ROUNDS = max(30, KILL_ROUNDS) if IS_LONG_RUN else 3
FREEZE_ATTEMPTS_MAX = 50
STEPS_MAX = 60
"""Between two blows; a transaction has four."""

SOURCE, TARGET = "source", "target"
SOURCE_PARTITIONS, TARGET_PARTITIONS = 4, 3
PROGRAM = Path(__file__).with_name("copier.py")
CONSUMER_SETTINGS: dict[str, dict[str, int]] = {
    "classic": {"session.timeout.ms": 3000, "heartbeat.interval.ms": 200},
    "consumer": {},
}
PROTOCOLS = [
    "classic",
    pytest.param("consumer", marks=long_run),
]


class Copiers:
    """Two copiers in one group; a dead one is replaced by another of the same transactional id."""

    def __init__(self, server: Server, dice: random.Random, protocol: str) -> None:
        self._server = server
        self._protocol = protocol
        self._dice = dice
        self._dead: list[TellingProcess] = []
        self.alive = [self._start(number) for number in range(2)]

    def _start(self, number: int) -> TellingProcess:
        orders: dict[str, Any] = {
            "bootstrap": self._server.bootstrap,
            "group": "copiers",
            "source": SOURCE,
            "target": TARGET,
            "transactional_id": f"copier-{number}",
            "seed": self._dice.random(),
            "protocol": self._protocol,
            "consumer": CONSUMER_SETTINGS[self._protocol],
        }
        return TellingProcess(python_command(PROGRAM), orders)

    def replace(self, number: int) -> None:
        """Kill one and start another in its place."""
        self.alive[number].kill()
        self._dead.append(self.alive[number])
        self.alive[number] = self._start(number)

    def freeze_in_transaction(self, number: int) -> TellingProcess:
        """Stop one that has written and not committed, and start another of its id."""
        zombie = self.alive[number]
        for _ in range(FREEZE_ATTEMPTS_MAX):
            wait_write(zombie)
            zombie.freeze()
            time.sleep(0.05)  # What it said before it froze is still to be read.
            if zombie.events[-1]["event"] in ("produced", "offsets sent"):
                break
            zombie.thaw()
        self._dead.append(zombie)
        self.alive[number] = self._start(number)
        return zombie

    def all(self) -> list[TellingProcess]:
        return [*self._dead, *self.alive]

    def step_count(self) -> int:
        return sum(len(copier.events) for copier in self.all())

    def named(self, name: str) -> list[dict[str, Any]]:
        return [event for copier in self.all() for event in copier.named(name)]

    def wait_steps(self, count: int) -> None:
        """Until so many more steps have been taken by all of them together."""
        wanted = self.step_count() + count

        def has_gone_on() -> bool:
            for copier in self.alive:
                assert copier.is_alive, f"gave up by itself: {copier.events[-3:]} {copier.error_text()}"
            return self.step_count() >= wanted

        try:
            wait_until(has_gone_on, what=f"{count} steps of the copiers", seconds=60, every_seconds=0.002)
        except AssertionError as failure:
            said = [(len(copier.events), copier.events[-3:], copier.error_text()) for copier in self.alive]
            raise AssertionError(f"{failure}; the copiers of {len(self._dead)} dead say {said}") from None

    def close(self) -> None:
        for copier in self.all():
            copier.close()


@pytest.fixture
def server(make_server: MakeServer) -> Server:
    """With a topic to copy from and one to copy to."""
    made = make_server(LIVELY)
    admin = admin_client(made.bootstrap)
    create_topic(admin, SOURCE, partitions=SOURCE_PARTITIONS)
    create_topic(admin, TARGET, partitions=TARGET_PARTITIONS)
    return made


@pytest.fixture(params=PROTOCOLS)
def copiers(request: pytest.FixtureRequest, server: Server) -> Iterator[Copiers]:
    """In a group of either protocol."""
    made = Copiers(server, random.Random("copiers"), request.param)
    try:
        yield made
    finally:
        made.close()


def test_killed_copiers_and_broker_copy_every_record_exactly_once_in_order(
    server: Server, copiers: Copiers
) -> None:
    dice = random.Random("copy loop")
    with Feed(server.bootstrap, SOURCE, partitions=SOURCE_PARTITIONS, pause_seconds=0.04) as feed:
        for _ in range(ROUNDS):
            copiers.wait_steps(dice.randint(1, STEPS_MAX))
            strike(dice.choice(("copier", "copier", "broker", "all")), server, copiers, dice)
        copiers.wait_steps(STEPS_MAX)
        values = feed.stop()

    wanted = by_key(values)
    wait_copied(server, len(values))
    for copier in copiers.alive:
        copier.leave()
    assert copied(server) == wanted
    check_given_up(server, copiers)
    assert not copiers.named("fatal")
    assert TRACEBACK not in server.stderr_text()


def test_frozen_copier_wakes_up_fenced_and_adds_nothing(server: Server, copiers: Copiers) -> None:
    """It is taken for dead in the middle of a transaction, replaced under its own id, and goes on later."""
    with Feed(server.bootstrap, SOURCE, partitions=SOURCE_PARTITIONS, pause_seconds=0.04) as feed:
        copiers.wait_steps(20)
        zombie = copiers.freeze_in_transaction(0)
        copiers.wait_steps(40)
        values = feed.stop()
        wait_copied(server, len(values))
        zombie.thaw()
        wait_until(lambda: not zombie.is_alive, what="the zombie to give up", seconds=40)

    assert copied(server) == by_key(values)
    zombie.close()
    (last_words,) = zombie.named("fatal")
    assert last_words["name"] in ("_FENCED", "INVALID_PRODUCER_EPOCH", "PRODUCER_FENCED"), last_words


def wait_write(copier: TellingProcess) -> None:
    """Until it has written once more."""
    before = len(copier.named("produced"))
    wait_until(lambda: len(copier.named("produced")) > before, what="a write", every_seconds=0.0005)


def wait_copied(server: Server, count: int) -> None:
    """Until a reader of committed records has seen so many; that may take its time, but not stand still."""
    seen, moved_at = 0, time.monotonic()
    with consumer(server.bootstrap, isolation_level="read_committed", fetch_wait_max_ms=50) as reader:
        reader.assign([TopicPartition(TARGET, number, 0) for number in range(TARGET_PARTITIONS)])
        while seen < count:
            found = len([one for one in reader.consume(1000, 0.5) if one.error() is None])
            seen, moved_at = seen + found, time.monotonic() if found else moved_at
            assert time.monotonic() < moved_at + 40, f"the copying stands still at {seen} of {count}"


def strike(what: str, server: Server, copiers: Copiers, dice: random.Random) -> None:
    """Kill it, and bring it back."""
    if what in ("broker", "all"):
        server.kill()
    if what == "copier":
        copiers.replace(dice.randrange(2))
    elif what == "all":
        for number in range(2):
            copiers.replace(number)
    if not server.is_running:
        server.restart()


def by_key(values: list[str]) -> dict[str, list[str]]:
    """What the feed sent under each key, in order."""
    found: dict[str, list[str]] = defaultdict(list)
    for value in values:
        partition, _, number = value.partition(":")
        found[f"{partition}-{int(number) % Feed.KEYS_PER_PARTITION}"].append(value)
    return dict(found)


def copied(server: Server) -> dict[str, list[str]]:
    """What a reader of committed records sees under each key, in order."""
    found: dict[str, list[str]] = defaultdict(list)
    for message in target_messages(server, "read_committed"):
        value = message.value().decode()
        assert value.startswith(COPIED), f"not committed, yet seen: {value}"
        found[message.key().decode()].append(value.removeprefix(COPIED))
    return dict(found)


def target_messages(server: Server, isolation_level: str) -> list[Any]:
    return read_all(server.bootstrap, TARGET, partitions=TARGET_PARTITIONS, isolation_level=isolation_level)


def check_given_up(server: Server, copiers: Copiers) -> None:
    """There were transactions that were given up, and who asks for everything sees them."""
    assert copiers.named("aborted"), "the seed never gave up a transaction"
    everything = [message.value().decode() for message in target_messages(server, "read_uncommitted")]
    assert any(value.startswith(GIVEN_UP) for value in everything)
