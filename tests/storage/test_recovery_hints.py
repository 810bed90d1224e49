from penstock.storage.log_config import LogConfig
from penstock.storage.recovery_hints import RecoveryHints


def test_start_of_a_log_must_be_there_only_where_every_flush_is_durable() -> None:
    hints = RecoveryHints(recovery_point=3, sealed_offset=5, log_start_offset=9)
    assert hints.durable_offset(LogConfig()) == 9
    assert hints.durable_offset(LogConfig(flush_messages=2)) == 5
    assert RecoveryHints(recovery_point=7).durable_offset(LogConfig(flush_messages=2)) == 7
