import pytest
from hypothesis import given
from hypothesis import strategies as st

from penstock.config.broker_config import BrokerConfig, build_broker_config
from penstock.config.sources import load_broker_config
from penstock.config.topic_keys import TOPIC_KEYS
from penstock.metadata.config_changes import alter_configs, incremental_alter_configs
from penstock.metadata.effective_config import broker_config_in, topic_config_in
from penstock.metadata.image import ClusterImage
from penstock.metadata.records import ConfigRecord, TopicRecord
from penstock.model.error_codes import ErrorCode
from penstock.model.ids import NodeId, TopicId
from penstock.wire.messages import alter_configs as whole
from penstock.wire.messages import incremental_alter_configs as incremental
from penstock.wire.messages.incremental_alter_configs import APPEND, DELETE, SET, SUBTRACT

TOPIC, BROKER = 2, 4
Change = tuple[str, int, str | None]


def make_request(
    *changes: Change, type: int = TOPIC, name: str = "orders", validate_only: bool = False
) -> incremental.IncrementalAlterConfigsRequest:
    configs = tuple(
        incremental.AlterableConfig(name=key, config_operation=operation, value=value)
        for key, operation, value in changes
    )
    resource = incremental.AlterConfigsResource(resource_type=type, resource_name=name, configs=configs)
    return incremental.IncrementalAlterConfigsRequest(resources=(resource,), validate_only=validate_only)


def make_replacement(
    *values: tuple[str, str | None], type: int = TOPIC, name: str = "orders", validate_only: bool = False
) -> whole.AlterConfigsRequest:
    configs = tuple(whole.AlterableConfig(name=key, value=value) for key, value in values)
    resource = whole.AlterConfigsResource(resource_type=type, resource_name=name, configs=configs)
    return whole.AlterConfigsRequest(resources=(resource,), validate_only=validate_only)


def make_record(name: str, value: str | None, *, type: int = TOPIC, resource: str = "orders") -> ConfigRecord:
    return ConfigRecord(resource_type=type, resource_name=resource, name=name, value=value)


def test_set_and_delete_become_records(image: ClusterImage, config: BrokerConfig) -> None:
    request = make_request(("retention.ms", DELETE, None), ("segment.ms", SET, "7"))
    result = incremental_alter_configs(image, request, config=config)
    assert result.records == (make_record("retention.ms", None), make_record("segment.ms", "7"))
    assert result.response.responses == (
        incremental.AlterConfigsResourceResponse(resource_type=TOPIC, resource_name="orders"),
    )
    assert image.apply(result.records).topic_configs("orders") == {"segment.ms": "7"}


def test_append_starts_from_the_value_in_force(image: ClusterImage, config: BrokerConfig) -> None:
    request = make_request(("cleanup.policy", APPEND, "compact, delete"))
    result = incremental_alter_configs(image, request, config=config)
    assert result.records == (make_record("cleanup.policy", "delete,compact"),)


def test_subtract_takes_out_of_what_was_set(image: ClusterImage, config: BrokerConfig) -> None:
    both = image.apply([make_record("cleanup.policy", "delete,compact")])
    request = make_request(("cleanup.policy", SUBTRACT, "delete"))
    result = incremental_alter_configs(both, request, config=config)
    assert result.records == (make_record("cleanup.policy", "compact"),)


@pytest.mark.parametrize(
    "change",
    [
        ("retention.ms", SET, "1000"),
        ("segment.ms", DELETE, None),
        ("no.such.key", DELETE, None),
    ],
)
def test_change_that_changes_nothing_leaves_no_record(
    image: ClusterImage, config: BrokerConfig, change: Change
) -> None:
    result = incremental_alter_configs(image, make_request(change), config=config)
    assert (result.records, result.response.responses[0].error_code) == ((), 0)


def test_validate_only_records_nothing(image: ClusterImage, config: BrokerConfig) -> None:
    request = make_request(("segment.ms", SET, "7"), validate_only=True)
    assert incremental_alter_configs(image, request, config=config).records == ()
    replacement = make_replacement(("segment.ms", "7"), validate_only=True)
    assert alter_configs(image, replacement, config=config).records == ()


def test_replacement_takes_away_what_it_does_not_name(image: ClusterImage, config: BrokerConfig) -> None:
    result = alter_configs(image, make_replacement(("segment.ms", "7")), config=config)
    assert result.records == (make_record("retention.ms", None), make_record("segment.ms", "7"))
    assert result.response.responses == (
        whole.AlterConfigsResourceResponse(resource_type=TOPIC, resource_name="orders"),
    )


@pytest.mark.parametrize(
    ("request_", "code", "message"),
    [
        (
            make_request(("retention.ms", SET, "not-a-number")),
            ErrorCode.INVALID_CONFIG,
            "Invalid value not-a-number for configuration retention.ms: must be a whole number, at least -1.",
        ),
        (
            make_request(("retention", SET, "1")),
            ErrorCode.INVALID_CONFIG,
            "Unknown configuration retention. Did you mean retention.ms?",
        ),
        (
            make_request(("retention.ms", APPEND, "1")),
            ErrorCode.INVALID_CONFIG,
            "Can't APPEND to key retention.ms because its type is not LIST.",
        ),
        (
            make_request(("nonsense", SUBTRACT, "1")),
            ErrorCode.INVALID_CONFIG,
            "Can't SUBTRACT to key nonsense because its type is not LIST.",
        ),
        (
            make_request(("retention.ms", SET, None)),
            ErrorCode.INVALID_REQUEST,
            "Null value not supported for : retention.ms",
        ),
        (
            make_request(("retention.ms", SET, "1"), ("retention.ms", DELETE, None)),
            ErrorCode.INVALID_REQUEST,
            "Error due to duplicate config keys",
        ),
        (make_request(("retention.ms", 4, "1")), ErrorCode.INVALID_REQUEST, "Unknown operations type 4"),
        (
            make_request(("retention.ms", SET, "1"), name="x"),
            ErrorCode.UNKNOWN_TOPIC_OR_PARTITION,
            "The topic 'x' does not exist.",
        ),
        (
            make_request(name=""),
            ErrorCode.INVALID_REQUEST,
            "Default topic resources are not allowed.",
        ),
        (
            make_request(name=".."),
            ErrorCode.INVALID_TOPIC_EXCEPTION,
            "Topic name '..' is not allowed.",
        ),
        (make_request(type=8, name="1"), ErrorCode.INVALID_REQUEST, "Unknown resource type 8"),
        (
            make_request(type=BROKER, name="9"),
            ErrorCode.INVALID_REQUEST,
            "Unexpected broker id, expected 1, but received 9",
        ),
        (
            make_request(("node.id", SET, "2"), type=BROKER, name="1"),
            ErrorCode.INVALID_REQUEST,
            "Cannot update these configs dynamically: node.id.",
        ),
        (
            make_request(("message.max.bytes", SET, "16777217"), type=BROKER, name=""),
            ErrorCode.INVALID_REQUEST,
            "Invalid value 16777216 for configuration socket.request.max.bytes: must be at least "
            "message.max.bytes, which is 16777217.",
        ),
        (
            make_request(("message.max.byte", SET, "1"), type=BROKER, name="1"),
            ErrorCode.INVALID_REQUEST,
            "Unknown configuration message.max.byte. Did you mean message.max.bytes?",
        ),
    ],
)
def test_change_that_cannot_be_is_refused(
    image: ClusterImage,
    config: BrokerConfig,
    request_: incremental.IncrementalAlterConfigsRequest,
    code: ErrorCode,
    message: str,
) -> None:
    result = incremental_alter_configs(image, request_, config=config)
    assert result.records == ()
    (resource,) = request_.resources
    assert result.response.responses == (
        incremental.AlterConfigsResourceResponse(
            error_code=code,
            error_message=message,
            resource_type=resource.resource_type,
            resource_name=resource.resource_name,
        ),
    )


def test_replacement_with_null_is_refused(image: ClusterImage, config: BrokerConfig) -> None:
    result = alter_configs(image, make_replacement(("retention.ms", None)), config=config)
    assert result.records == ()
    assert result.response.responses[0].error_code == ErrorCode.INVALID_REQUEST
    assert result.response.responses[0].error_message == "Null value not supported for : retention.ms"


def test_resource_given_twice_is_refused_twice(image: ClusterImage, config: BrokerConfig) -> None:
    (resource,) = make_request(("segment.ms", SET, "7")).resources
    request = incremental.IncrementalAlterConfigsRequest(resources=(resource, resource))
    result = incremental_alter_configs(image, request, config=config)
    assert result.records == ()
    assert [(each.error_code, each.error_message) for each in result.response.responses] == [
        (ErrorCode.INVALID_REQUEST, "Each resource must appear at most once.")
    ] * 2


def test_resource_is_changed_as_a_whole_and_alone(image: ClusterImage, config: BrokerConfig) -> None:
    bad = make_request(("segment.ms", SET, "7"), ("retention.ms", SET, "x")).resources
    good = make_request(("message.max.bytes", SET, "5000"), type=BROKER, name="").resources
    request = incremental.IncrementalAlterConfigsRequest(resources=bad + good)
    result = incremental_alter_configs(image, request, config=config)
    assert result.records == (make_record("message.max.bytes", "5000", type=BROKER, resource=""),)
    assert [each.error_code for each in result.response.responses] == [ErrorCode.INVALID_CONFIG, 0]


def test_broker_setting_comes_into_force_for_topics(image: ClusterImage, config: BrokerConfig) -> None:
    request = make_request(("log.retention.ms", SET, "55"), type=BROKER, name="1")
    result = incremental_alter_configs(image, request, config=config)
    after = image.apply(result.records)
    in_force = broker_config_in(after, config)
    assert in_force.integer("log.retention.ms") == 55
    plain = after.apply([TopicRecord(name="plain", topic_id=TopicId(b"p" * 16))])
    assert topic_config_in(plain, "plain", in_force).integer("retention.ms") == 55
    assert topic_config_in(plain, "orders", in_force).integer("retention.ms") == 1000


def test_broker_without_dynamic_settings_keeps_its_own(image: ClusterImage, config: BrokerConfig) -> None:
    assert broker_config_in(image, config) is config


def test_setting_for_all_brokers_yields_to_this_brokers_own(image: ClusterImage) -> None:
    config = load_broker_config(flags={"node.id": "1", "socket.request.max.bytes": "2000000"})
    own = image.apply([make_record("message.max.bytes", "1000", type=BROKER, resource="1")])
    request = make_request(("message.max.bytes", SET, "3000000"), type=BROKER, name="")
    result = incremental_alter_configs(own, request, config=config)
    assert result.response.responses[0].error_code == 0


SETTABLE = sorted(name for name in TOPIC_KEYS if not name.startswith("remote."))
CHANGES = st.lists(
    st.tuples(
        st.sampled_from([*SETTABLE, "nonsense"]),
        st.integers(-1, 5),
        st.none()
        | st.sampled_from(["1", "5", "true", "delete", "compact", "delete,compact", "0:1", "", "x"]),
    ),
    max_size=6,
    unique_by=lambda change: change[0],
)


@given(st.lists(CHANGES, max_size=4))
def test_whatever_is_accepted_leaves_a_topic_that_works(history: list[list[Change]]) -> None:
    config = build_broker_config()
    image = ClusterImage().apply([TopicRecord(name="orders", topic_id=TopicId(b"o" * 16))])
    for changes in history:
        result = incremental_alter_configs(image, make_request(*changes), config=config)
        if result.response.responses[0].error_code:
            assert result.records == ()
        image = image.apply(result.records)
        in_force = topic_config_in(image, "orders", config)
        assert all(in_force.text(name) is not None for name in in_force)


def test_controller_changes_settings_of_other_brokers(image: ClusterImage, config: BrokerConfig) -> None:
    request = make_request(("log.retention.ms", SET, "5"), type=BROKER, name="2")
    result = incremental_alter_configs(image, request, config=config)
    assert result.response.responses[0].error_code == ErrorCode.NONE
    assert image.apply(result.records).broker_configs(NodeId(2)) == {"log.retention.ms": "5"}
