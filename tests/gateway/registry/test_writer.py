"""One writer among several gateways: who is fenced decides again, and nobody guesses how a write ended."""

import itertools
import json
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from typing import Any

import pytest

from penstock.gateway.errors import GatewayError
from penstock.gateway.registry.decisions.configuring import decide_set_config
from penstock.gateway.registry.decisions.decision import Decision
from penstock.gateway.registry.decisions.deleting import decide_delete_subject
from penstock.gateway.registry.decisions.registering import Registering, decide_register
from penstock.gateway.registry.decisions.requests import SchemaRequest
from penstock.gateway.registry.decisions.transferring import decide_import
from penstock.gateway.registry.registry import CLIENT_ID, SchemaRegistry
from penstock.gateway.registry.state import LEVEL, RegistryState
from penstock.gateway.registry.topic.reading import TOPIC
from penstock.gateway.registry.topic.writing import TopicWriter
from penstock.gateway.registry.values.stored_schema import StoredSchema
from penstock.testing import Broker
from penstock.wire_client.cluster import Cluster
from penstock.wire_client.connection import Address
from penstock.wire_client.errors import RefusedError

NAMES = itertools.count()
MakeRegistry = Callable[[], SchemaRegistry]


@pytest.fixture(scope="module")
def broker() -> Iterator[Broker]:
    with Broker() as one:
        yield one


@pytest.fixture
def make_registry(broker: Broker) -> Iterator[MakeRegistry]:
    made: list[SchemaRegistry] = []

    def make() -> SchemaRegistry:
        made.append(SchemaRegistry(broker.bootstrap_servers))
        made[-1].start()
        return made[-1]

    try:
        yield make
    finally:
        broker.faults.clear()
        for registry in made:
            registry.stop()


def new_subject() -> str:
    return f"s{next(NAMES)}"


def registering(subject: str) -> Callable[[RegistryState], Decision[StoredSchema]]:
    """A schema that no other subject has."""
    text = f'{{"type":"record","name":"{subject}","fields":[]}}'
    return decide_register(Registering(subject=subject, request=SchemaRequest(text=text)))


def create_topic(broker: Broker, *, partitions: int = 1, policy: str = "compact") -> None:
    settings: dict[str, Any] = {"cleanup.policy": policy}
    broker.create_topic(TOPIC, partitions=partitions, **settings)


def has(registry: SchemaRegistry, subject: str) -> bool:
    """As clients ask: before something is not there, the topic is read to its end."""

    def look(state: RegistryState) -> bool:
        if not state.has_subject(subject):
            raise GatewayError(404, "not there")
        return True

    try:
        return registry.find(look)
    except GatewayError:
        return False


def test_what_was_written_is_read_at_once(make_registry: MakeRegistry) -> None:
    registry, subject = make_registry(), new_subject()
    stored = registry.change(registering(subject))
    assert registry.state.latest(subject) == stored


def test_other_gateway_reads_it_before_it_says_no(make_registry: MakeRegistry) -> None:
    first, second = make_registry(), make_registry()
    for _ in range(10):
        stored = first.change(registering(new_subject()))

        def look(state: RegistryState, wanted: StoredSchema = stored) -> StoredSchema:
            found = state.by_id(wanted.schema_id)
            if not found:
                raise GatewayError(404, "not yet")
            return found[0]

        assert second.find(look) == stored


def test_fenced_gateway_decides_again_on_what_the_other_wrote(make_registry: MakeRegistry) -> None:
    first, second = make_registry(), make_registry()
    own, others = new_subject(), new_subject()
    decided: list[int] = []

    def decide(state: RegistryState) -> Decision[StoredSchema]:
        decision = registering(own)(state)
        if not decided:
            second.change(registering(others))
        decided.append(decision.answer.schema_id)
        return decision

    stored = first.change(decide)
    (taken,) = second.state.versions(others)
    assert decided == [taken.schema_id, taken.schema_id + 1]
    assert stored.schema_id == taken.schema_id + 1


@pytest.mark.parametrize("when", ["before", "after"])
@pytest.mark.parametrize("api", ["InitProducerId", "AddPartitionsToTxn", "Produce", "EndTxn"])
def test_broken_connection_at_any_step_is_got_over(
    broker: Broker, make_registry: MakeRegistry, api: str, when: str
) -> None:
    registry, subject = make_registry(), new_subject()
    before = registry.change(registering(new_subject())).schema_id
    registry.stop()
    registry = make_registry()
    with broker.faults.drop(api, when=when, times=1, client_id=CLIENT_ID) as fault:  # type: ignore[arg-type]
        stored = registry.change(registering(subject))
        assert fault.hits == 1
    assert (stored.schema_id, stored.version) == (before + 1, 1)
    assert [each.version for each in make_registry().state.versions(subject)] == [1]


def test_commit_whose_answer_was_lost_to_a_takeover_is_found_in_the_topic(
    broker: Broker, make_registry: MakeRegistry
) -> None:
    """Deleting is not the same when done twice: only reading tells that it was done."""
    registry, subject = make_registry(), new_subject()
    registry.change(registering(subject))
    with (
        broker.faults.drop("EndTxn", when="after", times=1, client_id=CLIENT_ID),
        broker.faults.fail("EndTxn", error="INVALID_PRODUCER_EPOCH", times=1, client_id=CLIENT_ID) as fenced,
    ):
        assert registry.change(decide_delete_subject(subject, is_permanent=False)) == [1]
        assert fenced.hits == 1
    assert not make_registry().find(lambda state: state.has_subject(subject))


def test_ids_of_gateways_that_write_at_once_are_all_different(make_registry: MakeRegistry) -> None:
    registries = [make_registry() for _ in range(3)]
    jobs = [(registries[number % 3], new_subject()) for number in range(24)]
    with ThreadPoolExecutor(len(registries) * 2) as pool:
        stored = list(pool.map(lambda job: job[0].change(registering(job[1])), jobs))
    assert len({each.schema_id for each in stored}) == len(jobs)
    for registry, (_, subject) in itertools.product(registries, jobs):
        assert has(registry, subject)


def test_broker_that_comes_back_finds_everything_as_it_was(
    make_registry: MakeRegistry, broker: Broker
) -> None:
    registry, before, after = make_registry(), new_subject(), new_subject()
    registry.change(registering(before))
    broker.stop()
    assert has(registry, before)
    with ThreadPoolExecutor(1) as pool:
        change = pool.submit(registry.change, registering(after))
        broker.restart()
        change.result(30)
    assert has(make_registry(), before)
    assert has(make_registry(), after)


def test_change_that_changes_nothing_writes_nothing(make_registry: MakeRegistry) -> None:
    registry, subject = make_registry(), new_subject()
    for _ in range(2):
        registry.change(registering(subject))
        registry.change(decide_set_config(subject, {LEVEL: "NONE"}))
    position = registry.progress.position
    registry.change(registering(subject))
    assert registry.progress.position == position


def test_bug_in_a_decision_ends_that_change_alone(make_registry: MakeRegistry) -> None:
    registry = make_registry()

    def decide(state: RegistryState) -> Decision[None]:
        raise ZeroDivisionError

    with pytest.raises(ZeroDivisionError):
        registry.change(decide)
    assert registry.change(registering(new_subject()))


def test_without_a_cluster_it_starts_and_says_why_nothing_goes(closed_port: int) -> None:
    registry = SchemaRegistry(f"127.0.0.1:{closed_port}")
    registry.start()
    try:
        with pytest.raises(GatewayError, match="refused") as refused:
            registry.change(registering("s"), seconds_max=0.5)
        assert refused.value.error_code == 50001
    finally:
        registry.stop()


@pytest.mark.parametrize(
    ("partitions", "policy", "reason"), [(2, "compact", "2 partitions"), (1, "delete", "cleanup.policy")]
)
def test_topic_that_would_lose_schemas_is_refused(partitions: int, policy: str, reason: str) -> None:
    with Broker() as broker:
        create_topic(broker, partitions=partitions, policy=policy)
        registry = SchemaRegistry(broker.bootstrap_servers)
        registry.start()
        try:
            with pytest.raises(GatewayError, match=reason) as refused:
                registry.change(registering("s"))
            assert refused.value.error_code == 50001
        finally:
            registry.stop()


def test_topic_that_was_deleted_is_still_told_but_not_written() -> None:
    with Broker() as broker:
        registry = SchemaRegistry(broker.bootstrap_servers)
        registry.start()
        try:
            stored = registry.change(registering("s"))
            broker.delete_topic(TOPIC)
            with pytest.raises(GatewayError, match="export") as refused:
                registry.change(registering("t"))
            assert refused.value.error_code == 50001
            create_topic(broker)
            with pytest.raises(GatewayError, match="export"):
                registry.change(registering("t"))
            assert registry.state.latest("s") == stored
        finally:
            registry.stop()


def test_transaction_that_a_dead_gateway_left_open_is_in_nobodys_way(
    broker: Broker, make_registry: MakeRegistry
) -> None:
    with Cluster.connect([Address("127.0.0.1", broker.port)]) as cluster:
        dead = TopicWriter(cluster)
        dead.take()
        decision = registering(new_subject())(RegistryState())
        with (
            broker.faults.fail("EndTxn", error="INVALID_TXN_STATE", times=1),
            pytest.raises(RefusedError, match="TXN"),
        ):
            dead.write(decision.records, b"dead", timestamp_ms=0)
    subject = new_subject()
    stored = make_registry().change(registering(subject))
    assert stored.version == 1
    assert not has(make_registry(), decision.answer.subject)


def described(name: str, size: int) -> str:
    return json.dumps({"type": "record", "name": name, "doc": "x" * size, "fields": []})


def test_schema_that_is_too_large_for_the_topic_is_refused_and_nothing_else() -> None:
    with Broker() as broker:
        settings: dict[str, Any] = {"cleanup.policy": "compact", "max.message.bytes": 20_000}
        broker.create_topic(TOPIC, **settings)
        registry = SchemaRegistry(broker.bootstrap_servers)
        registry.start()
        try:
            large = Registering(subject="s", request=SchemaRequest(text=described("R", 30_000)))
            with pytest.raises(GatewayError, match=r"max\.message\.bytes") as refused:
                registry.change(decide_register(large))
            assert refused.value.error_code == 42209
            assert registry.change(registering("t")).schema_id == 1
        finally:
            registry.stop()


def test_change_of_many_batches_is_seen_as_a_whole(make_registry: MakeRegistry) -> None:
    context = f":.{new_subject()}:"
    entries = [
        {
            "type": "schema",
            "subject": f"{context}s",
            "version": number,
            "id": number,
            "schema": described(f"R{number}", 100_000),
        }
        for number in range(1, 8)
    ]
    imported = make_registry().change(decide_import(entries))
    assert (imported.added_count, imported.unchanged_count) == (7, 0)
    versions = make_registry().state.versions(f"{context}s")
    assert [each.schema_id for each in versions] == list(range(1, 8))
