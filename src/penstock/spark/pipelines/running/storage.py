"""Where a pipeline keeps what below its storage.

::

    <storage>/flows/<flow>/checkpoint     Spark's: offsets, commits, state; what makes a flow resume
    <storage>/flows/<flow>/sides.json     up to which micro-batch side outputs are written
    <storage>/tables/<table>/<flow>       the rows of tables
    <storage>/run.json  LOCK              who runs it; beside the pipeline file if the storage is elsewhere
"""

from dataclasses import dataclass
from pathlib import Path

from penstock.spark.pipelines.model import Pipeline
from penstock.spark.pipelines.steps.paths import local_path


@dataclass(frozen=True, slots=True)
class Storage:
    """The places below one pipeline's storage."""

    root: str
    local: Path
    """A directory of this machine for what only concerns this machine."""

    def checkpoint(self, flow: str) -> str:
        """Where Spark keeps the progress of a flow."""
        return f"{self.root}/flows/{flow}/checkpoint"

    def side_cursor(self, flow: str) -> Path:
        """Where we keep the progress of a flow's side outputs."""
        return self.local / "flows" / flow / "sides.json"

    def table(self, table: str, flow: str) -> str:
        """Where the rows are that a flow appends to a table."""
        return f"{self.root}/tables/{table}/{flow}"

    @property
    def run_file(self) -> Path:
        """Who runs the pipeline, or ran it last."""
        return self.local / "run.json"

    @property
    def lock_file(self) -> Path:
        """Held by whoever runs it."""
        return self.local / "LOCK"


def storage_of(pipeline: Pipeline) -> Storage:
    """The places of a pipeline; no directory is made."""
    root = pipeline.storage.rstrip("/")
    local = local_path(root)
    beside = Path(pipeline.file).resolve().parent / ".penstock" / pipeline.name
    return Storage(root=root, local=local or beside)
