import pytest
from tests.metadata.cluster import TWO, changed, make_image, make_partition, only, topic_configs

from penstock.config.broker_config import BrokerConfig
from penstock.config.sources import load_broker_config
from penstock.metadata.config_changes import incremental_alter_configs
from penstock.metadata.image import ClusterImage
from penstock.metadata.records import ConfigRecord
from penstock.metadata.replication_rules import (
    TopicRules,
    agreed_defaults,
    overruled_settings,
    topic_rules,
)
from penstock.wire.messages.incremental_alter_configs import (
    SET,
    AlterableConfig,
    AlterConfigsResource,
    IncrementalAlterConfigsRequest,
)


@pytest.fixture
def config() -> BrokerConfig:
    return load_broker_config(flags={"node.id": "1"})


def set_minimum(
    image: ClusterImage, config: BrokerConfig, resource: tuple[int, str], value: str
) -> ClusterImage:
    request = IncrementalAlterConfigsRequest(
        resources=(
            AlterConfigsResource(
                resource_type=resource[0],
                resource_name=resource[1],
                configs=(AlterableConfig(name="min.insync.replicas", config_operation=SET, value=value),),
            ),
        )
    )
    result = incremental_alter_configs(image, request, config=config)
    assert result.response.responses[0].error_code == 0
    return image.apply(result.records)


@pytest.mark.parametrize("resource", [(2, "orders"), (4, "")])
def test_lower_minimum_ends_eligibility_in_the_same_records(
    config: BrokerConfig, resource: tuple[int, str]
) -> None:
    image = make_image(make_partition(isr=(1,), elr=(2,)))
    higher = image.apply(
        [
            ConfigRecord(
                resource_type=resource[0], resource_name=resource[1], name="min.insync.replicas", value="3"
            )
        ]
    )
    assert only(set_minimum(higher, config, resource, "2")).eligible_leader_replicas == (TWO,)
    assert only(set_minimum(higher, config, resource, "1")).eligible_leader_replicas == ()


def test_minimum_of_another_topic_changes_nothing_here(config: BrokerConfig) -> None:
    image = make_image(make_partition(isr=(1,), elr=(2,)), configs={"min.insync.replicas": "2"})
    after = set_minimum(image, config, (4, ""), "1")
    assert only(after).eligible_leader_replicas == (TWO,)


def test_rules_come_from_the_topic_then_from_all_brokers_then_are_kafkas() -> None:
    image = make_image()
    assert topic_rules(image, "orders") == TopicRules()
    everywhere = image.apply(
        [
            ConfigRecord(resource_type=4, resource_name="", name=name, value=value)
            for name, value in {
                "min.insync.replicas": "2",
                "unclean.leader.election.enable": "true",
                "log.flush.interval.messages": "100",
            }.items()
        ]
    )
    assert topic_rules(everywhere, "orders") == TopicRules(
        min_insync_replicas=2, allows_unclean_election=True, accepts_loss=True
    )
    own = {"min.insync.replicas": "3", "unclean.leader.election.enable": "false", "flush.messages": "1"}
    assert topic_rules(everywhere.apply(topic_configs("orders", own)), "orders") == TopicRules(
        min_insync_replicas=3
    )


def test_setting_of_one_broker_alone_is_not_agreed_on() -> None:
    image = make_image().apply(
        [ConfigRecord(resource_type=4, resource_name="1", name="min.insync.replicas", value="2")]
    )
    assert topic_rules(image, "orders").min_insync_replicas == 1


def test_first_brokers_own_choice_becomes_everybodys() -> None:
    image = ClusterImage()
    plain = load_broker_config(flags={"node.id": "1"})
    assert list(agreed_defaults(image, plain)) == []
    choosy = load_broker_config(flags={"node.id": "1", "min.insync.replicas": "2"})
    agreed = image.apply(agreed_defaults(image, choosy))
    assert agreed.cluster_configs() == {"min.insync.replicas": "2"}
    assert list(agreed_defaults(agreed, load_broker_config(flags={"min.insync.replicas": "3"}))) == []


def test_later_brokers_choice_has_no_effect_and_is_told() -> None:
    image = ClusterImage()
    choosy = load_broker_config(flags={"min.insync.replicas": "2"})
    agreed = image.apply(agreed_defaults(image, choosy))
    assert overruled_settings(agreed, choosy) == []
    assert overruled_settings(agreed, load_broker_config(flags={})) == []
    assert overruled_settings(image, choosy) == ["min.insync.replicas"]
    assert overruled_settings(agreed, load_broker_config(flags={"min.insync.replicas": "1"})) == [
        "min.insync.replicas"
    ]


def test_minimum_is_never_more_than_there_are_replicas() -> None:
    assert TopicRules(min_insync_replicas=3).min_isr(2) == 2
    assert changed(make_image(), isr=(1,)).topics  # a change without settings keeps everything else
