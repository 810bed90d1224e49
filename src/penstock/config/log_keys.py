"""The settings of what a broker process has to say: its log files, and the topic of all brokers' logs.

Named ``server.log`` since Kafka's ``log.…`` settings are about topics.
"""

from penstock.config.broker_key import broker_key
from penstock.config.definition import ConfigType
from penstock.config.validators import at_least, between

_MEBIBYTE = 1024 * 1024
_SETTINGS = "penstock.broker.logging.log_settings"

LOG_KEYS = (
    broker_key(
        "server.log.file.enable",
        ConfigType.BOOLEAN,
        True,
        "Whether the process also writes its log to files, one JSON object a line. Penstock's own setting.",
        read_by=_SETTINGS,
    ),
    broker_key(
        "server.log.dir",
        ConfigType.STRING,
        "",
        "Where log files go; empty for the directory `logs` in the data directory. Penstock's own setting.",
        read_by=_SETTINGS,
    ),
    broker_key(
        "server.log.file.bytes",
        ConfigType.LONG,
        100 * _MEBIBYTE,
        "How large a log file may become before the next is begun; a new day begins one too. Penstock's own "
        "setting.",
        validator=at_least(1024),
        read_by=_SETTINGS,
    ),
    broker_key(
        "server.log.retention.days",
        ConfigType.INT,
        7,
        "After how many days a log file that is not written any more is removed. Penstock's own setting.",
        validator=at_least(1),
        read_by=_SETTINGS,
    ),
    broker_key(
        "server.log.files.max",
        ConfigType.INT,
        10,
        "How many log files are kept besides the one in use. Penstock's own setting.",
        validator=at_least(1),
        read_by=_SETTINGS,
    ),
    broker_key(
        "server.log.topic.enable",
        ConfigType.BOOLEAN,
        True,
        "Whether the process also feeds its log to the topic `__penstock_logs`, which `penstock logs` "
        "searches. Penstock's own setting.",
        read_by=_SETTINGS,
    ),
    broker_key(
        "server.log.topic.num.partitions",
        ConfigType.INT,
        3,
        "How many partitions `__penstock_logs` is made with. Penstock's own setting.",
        validator=between(1, 100),
        read_by=_SETTINGS,
    ),
    broker_key(
        "server.log.topic.replication.factor",
        ConfigType.SHORT,
        3,
        "How many replicas `__penstock_logs` has, as far as there are brokers. Penstock's own setting.",
        validator=at_least(1),
        read_by=_SETTINGS,
    ),
    broker_key(
        "server.log.topic.retention.ms",
        ConfigType.LONG,
        7 * 24 * 60 * 60 * 1000,
        "How long `__penstock_logs` keeps entries, from when it is made. Penstock's own setting.",
        validator=at_least(60_000),
        read_by=_SETTINGS,
    ),
)
