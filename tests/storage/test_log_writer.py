from tests.storage.log_testing import make_batch, make_disk, make_log, open_log, put, read_all, records_of

from penstock.storage.log_config import LogConfig

SEGMENT_BYTES = 400
CONFIG = LogConfig(segment_bytes=SEGMENT_BYTES)


def test_segment_put_aside_while_its_creation_is_under_way_keeps_what_was_written_first() -> None:
    disk = make_disk()
    log = make_log(disk, CONFIG, tail_bytes=0)
    values = [bytes([number]) * 100 for number in range(12)]
    for value in values[:4]:  # Two to a segment: the second segment is only in memory yet.
        put(log, make_batch(value))
    creating = log.begin_flush()
    assert creating is not None
    assert creating.writes[-1].creates

    for value in values[4:]:  # Puts that segment aside, and others after it.
        put(log, make_batch(value))
    creating.run()
    log.finish_flush(creating)
    log.flush()

    assert [record.value for record in records_of(read_all(log))] == values
    log.close()
    reopened = open_log(disk, CONFIG, tail_bytes=0)
    assert [record.value for record in records_of(read_all(reopened))] == values
