"""Any changes in any order: ids are given once, and a compacted log tells the same as the whole one."""

import contextlib
from collections.abc import Callable

from hypothesis import given, settings
from hypothesis import strategies as st

from penstock.gateway.errors import GatewayError
from penstock.gateway.registry.decisions.configuring import (
    decide_delete_config,
    decide_delete_mode,
    decide_set_config,
    decide_set_mode,
)
from penstock.gateway.registry.decisions.decision import Decide
from penstock.gateway.registry.decisions.deleting import decide_delete_subject, decide_delete_version
from penstock.gateway.registry.decisions.registering import Registering, decide_register
from penstock.gateway.registry.decisions.requests import SchemaRequest
from penstock.gateway.registry.decisions.transferring import decide_import, exported
from penstock.gateway.registry.replay import replay
from penstock.gateway.registry.state import LEVEL, RegistryState
from penstock.gateway.registry.topic.records import TopicRecord, read_record
from penstock.gateway.registry.values.levels import Mode
from penstock.gateway.registry.values.stored_schema import StoredSchema

TEXTS = ('"int"', '"string"', '"long"', '{"type":"array","items":"int"}', '{"type":"map","values":"int"}')
SUBJECTS = st.sampled_from(["a", "b", ":.c:a"])
MODES = st.sampled_from(list(Mode))
REQUESTS = st.builds(
    SchemaRequest,
    text=st.sampled_from(TEXTS),
    kind=st.just("AVRO"),
    version=st.none() | st.integers(1, 6),
    schema_id=st.none() | st.integers(1, 9),
)
CHANGES: st.SearchStrategy[Decide[object]] = st.one_of(
    st.builds(
        lambda subject, request: decide_register(Registering(subject=subject, request=request, force=True)),
        SUBJECTS,
        REQUESTS,
    ),
    st.builds(
        lambda subject, gone: decide_delete_subject(subject, is_permanent=gone), SUBJECTS, st.booleans()
    ),
    st.builds(
        lambda subject, number, gone: decide_delete_version(subject, number, is_permanent=gone),
        SUBJECTS,
        st.none() | st.integers(1, 6),
        st.booleans(),
    ),
    st.builds(lambda scope, mode: decide_set_mode(scope, mode, force=True), SUBJECTS | st.none(), MODES),
    st.builds(lambda scope: decide_set_mode(scope, Mode.IMPORT, force=False), SUBJECTS | st.none()),
    st.builds(decide_delete_mode, SUBJECTS | st.none()),
    st.builds(lambda scope: decide_set_config(scope, {LEVEL: "NONE"}), SUBJECTS | st.none()),
    st.builds(decide_delete_config, SUBJECTS | st.none()),
)


class Log:
    """What a topic would hold, and the state of whoever follows it."""

    def __init__(self) -> None:
        self.records: list[TopicRecord] = []
        self.state = RegistryState()
        self.given: dict[tuple[str, int], str] = {}
        """Every text that ever had an id, by context and id."""

    def carry_out(self, decide: Callable[[RegistryState], object]) -> None:
        decision = decide(self.state)
        records = [_over_the_wire(each) for each in decision.records]  # type: ignore[attr-defined]
        self.records += records
        self.state = replay(self.state, records)
        for schema in self.state.everything():
            self.note(schema)

    def note(self, schema: StoredSchema) -> None:
        """Who imports may bring an id back that was deleted for good; the registry itself gives it once."""
        is_import = self.state.mode_in_scope(schema.subject) is Mode.IMPORT
        before = self.given.setdefault((schema.context, schema.schema_id), schema.text)
        assert is_import or before == schema.text, f"id {schema.schema_id} was given twice"
        self.given[schema.context, schema.schema_id] = schema.text


def _over_the_wire(record: TopicRecord) -> TopicRecord:
    return read_record(record.encoded_key(), record.encoded_value())


def compacted(records: list[TopicRecord], *, keeps_tombstones: bool) -> list[TopicRecord]:
    """What a cleaner leaves: the last record of every key, in its place."""
    last = {record.encoded_key(): position for position, record in enumerate(records)}
    left = [records[position] for position in sorted(last.values())]
    return left if keeps_tombstones else [record for record in left if record.value is not None]


def after(changes: list[Decide[object]]) -> Log:
    log = Log()
    # Half of all begin where ids and versions are brought along.
    beginning = [decide_set_mode(scope, Mode.IMPORT, force=True) for scope in (None, ":.c:")]
    for decide in (*beginning[: 2 * (len(changes) % 2)], *changes):
        with contextlib.suppress(GatewayError):
            log.carry_out(decide)
    return log


@settings(max_examples=150, deadline=None)
@given(st.lists(CHANGES, max_size=25))
def test_ids_are_given_once_and_compaction_changes_nothing(changes: list[Decide[object]]) -> None:
    log = after(changes)
    for keeps_tombstones in (True, False):
        short = replay(RegistryState(), compacted(log.records, keeps_tombstones=keeps_tombstones))
        assert short.subjects == log.state.subjects
        assert short.highest_ids == log.state.highest_ids
        assert (short.configs, short.modes) == (log.state.configs, log.state.modes)
        assert short.contexts == log.state.contexts
        assert short.ids.keys() == log.state.ids.keys()


@settings(max_examples=75, deadline=None)
@given(st.lists(CHANGES, max_size=25))
def test_what_is_exported_and_imported_is_the_same(changes: list[Decide[object]]) -> None:
    log, copy = after(changes), Log()
    entries = list(exported(log.state))
    copy.carry_out(decide_import(entries))
    assert copy.state.subjects == log.state.subjects
    assert copy.state.highest_ids == log.state.highest_ids
    assert (copy.state.configs, copy.state.modes) == (log.state.configs, log.state.modes)
    assert copy.state.contexts == log.state.contexts
    decision = decide_import(entries)(copy.state)
    assert (decision.answer.added_count, list(decision.records)) == (0, [])


@settings(max_examples=75, deadline=None)
@given(st.lists(CHANGES, max_size=25))
def test_indexes_say_what_the_versions_say(changes: list[Decide[object]]) -> None:
    state = after(changes).state
    everything = sorted((each.subject, each.version) for each in state.everything())
    for index in (state.ids, state.guids):
        assert sorted((each.subject, each.version) for held in index.values() for each in held) == everything
    assert all(versions for versions in state.subjects.values())
    for schema in state.everything():
        assert schema in state.by_id(schema.schema_id, schema.subject)


def test_id_of_a_schema_that_compaction_forgot_is_not_given_again() -> None:
    log = Log()
    request = Registering(subject="a", request=SchemaRequest(text=TEXTS[0]))
    log.carry_out(decide_register(request))
    for is_permanent in (False, True):
        log.carry_out(decide_delete_subject("a", is_permanent=is_permanent))
    forgetful = replay(RegistryState(), compacted(log.records, keeps_tombstones=False))
    assert not forgetful.subjects
    assert decide_register(request)(forgetful).answer.schema_id == 2
