"""Lag, computed from what Spark reports of a query."""

import json

from penstock.model.ids import TopicPartition
from penstock.spark.progress import source_lags

SOURCE = {
    "startOffset": {"orders": {"0": 1, "1": 2}},
    "endOffset": {"orders": {"0": 10, "1": 20}, "@id orders A": {}, "@group g": {}},
    "latestOffset": {"orders": {"0": 16, "1": 20, "2": 3}, "@id orders A": {}},
}


def test_lag_is_what_lies_between_the_end_of_the_batch_and_that_of_the_partition() -> None:
    (lag,) = source_lags({"sources": [SOURCE]})

    assert lag is not None
    assert lag.by_partition == {
        TopicPartition("orders", 0): 6,
        TopicPartition("orders", 1): 0,
        TopicPartition("orders", 2): 3,
    }
    assert (lag.total, lag.group_id) == (9, "g")
    assert lag.metrics() == {
        "minOffsetsBehindLatest": "0",
        "maxOffsetsBehindLatest": "6",
        "avgOffsetsBehindLatest": "3.0",
    }


def test_lag_in_a_topic_made_anew_is_all_of_it() -> None:
    made_anew = {**SOURCE, "latestOffset": {"orders": {"0": 4}, "@id orders B": {}}}

    (lag,) = source_lags({"sources": [made_anew]})

    assert lag is not None
    assert lag.total == 4


def test_progress_may_be_a_text_with_texts_in_it() -> None:
    texts = {name: json.dumps(offset) for name, offset in SOURCE.items()}

    assert source_lags(json.dumps({"sources": [texts]})) == source_lags({"sources": [SOURCE]})


def test_sources_of_others_and_unknown_ends_have_no_lag() -> None:
    others = [
        {"endOffset": 7, "latestOffset": 9},
        {"endOffset": {"logOffset": 0}, "latestOffset": {"logOffset": 1}},
        {"endOffset": "2026-01-01", "latestOffset": "x"},
        {"endOffset": {"a": {"b": "c"}}, "latestOffset": {"a": {"b": "c"}}},
        {**SOURCE, "latestOffset": None},
    ]
    assert source_lags({"sources": others}) == [None] * len(others)


def test_source_without_partitions_has_no_metrics() -> None:
    (lag,) = source_lags({"sources": [{"endOffset": {}, "latestOffset": {}}]})

    assert lag is not None
    assert (lag.total, lag.metrics()) == (0, {})
