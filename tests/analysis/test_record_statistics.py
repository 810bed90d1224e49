"""All figures of a few batches, and of their sum."""

from tests.analysis.analysis_testing import TIME_MS, keyed

from penstock.analysis.codec_usage import CodecTotals, CodecUsage
from penstock.analysis.record_statistics import RecordStatistics
from penstock.records.batch import read_header
from penstock.records.builder import build_batch
from penstock.records.compression import Codec


def add(statistics: RecordStatistics, batch: bytearray) -> None:
    statistics.add_batch(batch, read_header(batch))


def test_statistics_of_batches_hold_every_figure() -> None:
    statistics = RecordStatistics()
    plain = build_batch(keyed("a", "b", "a"))
    compressed = build_batch(keyed("a", value=b"x" * 10_000), codec=Codec.ZSTD)
    for batch in (plain, compressed, build_batch(keyed("b", value=None), transactional=True)):
        add(statistics, batch)

    told = statistics.as_json(top_max=1)
    assert (told["messages"], told["batches"], told["tombstones"]) == (5, 3, 1)
    assert told["transactional_messages"] == 1
    assert told["message_bytes"]["max"] > 10_000
    assert told["keys"]["distinct"] == 2
    assert told["keys"]["top"] == [{"key": "a", "messages": 3, "share": 0.6}]
    assert told["compression"]["codecs"]["zstd"]["ratio"] > 50
    assert told["compression"]["codecs"]["none"]["ratio"] == 1
    assert told["timeline"]["earliest_ms"] == TIME_MS


def test_statistics_count_markers_apart_from_messages() -> None:
    statistics = RecordStatistics()
    add(statistics, build_batch(keyed("marker"), control=True, transactional=True))

    assert (statistics.message_count, statistics.marker_count, statistics.batch_count) == (0, 1, 1)
    assert statistics.keys.keyed_count == 0


def test_merged_statistics_are_those_of_all_batches() -> None:
    batches = [build_batch(keyed("a", "b")), build_batch(keyed("b", None), codec=Codec.LZ4)]
    together, first, second = RecordStatistics(), RecordStatistics(), RecordStatistics()
    for batch in batches:
        add(together, batch)
    add(first, batches[0])
    add(second, batches[1])
    first.merge(second)

    assert first.as_json(top_max=5) == together.as_json(top_max=5)


def test_codec_usage_of_nothing_has_a_ratio_of_one() -> None:
    assert CodecUsage().as_json() == {"ratio": 1.0, "codecs": {}}
    assert CodecTotals(1, 50, 100).ratio == 2
