"""Which topics and groups a mirror means."""

import pytest

from penstock.model.errors import UsageError
from penstock.spark.mirror.naming import Renaming, Selection


def test_copies_are_called_as_the_template_says() -> None:
    assert Renaming().copy_of("orders") == "orders"
    assert Renaming(template="eu.{topic}.copy").copy_of("orders") == "eu.orders.copy"
    for template in ("eu.", "{topic}{topic}"):
        with pytest.raises(UsageError, match=r"must have \{topic\} in it once"):
            Renaming(template=template)


def test_topics_are_meant_by_whole_name_and_internal_ones_never() -> None:
    names = ("orders", "orders.eu", "payments", "__consumer_offsets", "__orders")

    assert Selection(topic_pattern="orders.*|pay").topics_of(names) == ["orders", "orders.eu"]
    assert Selection(topic_pattern=".*").topics_of(names) == ["orders", "orders.eu", "payments"]
    assert Selection(topics=("orders", "x.y")).topics_of((*names, "x-y")) == ["orders"]


def test_groups_of_mirrors_are_never_carried_over() -> None:
    assert Selection(topic_pattern=".*").means_group("billing")
    assert not Selection(topic_pattern=".*").means_group("penstock-mirror-5f0c2ad1")
    assert not Selection(topic_pattern=".*", group_pattern="bill").means_group("billing")
    assert not Selection(topic_pattern=".*", group_pattern=None).means_group("billing")


@pytest.mark.parametrize(
    ("wishes", "complaint"),
    [
        ({}, "not both"),
        ({"topics": ("a",), "topic_pattern": "b"}, "not both"),
        ({"topics": ("__a",)}, "internal"),
        ({"topic_pattern": "("}, "pattern of topics '\\('"),
        ({"topics": ("a",), "group_pattern": "["}, "pattern of groups"),
    ],
)
def test_choices_that_mean_nothing_are_refused(wishes: dict[str, object], complaint: str) -> None:
    with pytest.raises(UsageError, match=complaint):
        Selection(**wishes)  # type: ignore[arg-type]
