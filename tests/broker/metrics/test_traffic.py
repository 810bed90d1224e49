from penstock.broker.metrics.traffic import Traffic
from penstock.model.error_codes import ErrorCode
from penstock.storage.append_result import AppendResult
from penstock.wire.api_keys import ApiKey


def appended(base_offset: int, last_offset: int, *, is_duplicate: bool = False) -> AppendResult:
    return AppendResult(base_offset, last_offset, -1, is_duplicate, 0)


def test_batches_are_counted_by_topic_and_duplicates_are_not() -> None:
    traffic = Traffic()
    traffic.took_in("orders", appended(0, 9), 500)
    traffic.took_in("orders", appended(10, 10), 70)
    traffic.took_in("orders", appended(10, 10, is_duplicate=True), 70)
    topic = traffic.topics["orders"]
    assert (topic.messages_in, topic.batches_in, topic.bytes_in) == (11, 2, 570)


def test_topics_that_are_gone_are_forgotten() -> None:
    traffic = Traffic()
    traffic.took_in("gone", appended(0, 0), 70)
    traffic.took_in("kept", appended(0, 0), 70)
    traffic.keep_topics(["kept", "never seen"])
    assert list(traffic.topics) == ["kept"]


def test_answers_and_errors_are_counted_by_api() -> None:
    traffic = Traffic()
    traffic.api(ApiKey.FETCH).answered(0.002, 100, 5_000)
    traffic.api(ApiKey.FETCH).answered(0.004, 100, 5_000)
    traffic.failed(ApiKey.FETCH, ErrorCode.OFFSET_OUT_OF_RANGE)
    traffic.failed(ApiKey.FETCH, ErrorCode.OFFSET_OUT_OF_RANGE)
    fetches = traffic.apis[ApiKey.FETCH]
    assert (fetches.latency.count, fetches.request_bytes, fetches.response_bytes) == (2, 200, 10_000)
    assert traffic.errors == {(ApiKey.FETCH, ErrorCode.OFFSET_OUT_OF_RANGE): 2}
