"""The settings that make a Spark on one machine quick; docs/spark.md says what each gains."""

from collections.abc import Sequence

CHECKPOINT_FILE_MANAGER = (
    "org.apache.spark.sql.execution.streaming.checkpointing.FileSystemBasedCheckpointFileManager"
)


def tuned_settings(
    *, core_count: int | None, jvm_options: Sequence[str], has_interface: bool
) -> dict[str, str]:
    """For ``core_count`` cores of this machine; a Spark elsewhere (None) is left as its keeper made it."""
    settings = {"spark.ui.showConsoleProgress": "false"}
    if has_interface or core_count is not None:
        settings["spark.ui.enabled"] = str(has_interface).lower()
    if core_count is None:
        return settings
    settings |= {
        # 200 by default, and every one of them is a task in every batch.
        "spark.sql.shuffle.partitions": str(core_count),
        # The default manager takes 80 ms more for a batch; this one is as safe on a local file system.
        "spark.sql.streaming.checkpointFileManagerClass": CHECKPOINT_FILE_MANAGER,
        "spark.python.unix.domain.socket.enabled": "true",
    }
    if jvm_options:
        # Not extraJavaOptions: those are people's own, and come behind these.
        settings["spark.driver.defaultJavaOptions"] = " ".join(map(_quoted, jvm_options))
    return settings


def _quoted(option: str) -> str:
    return f'"{option}"' if " " in option else option
