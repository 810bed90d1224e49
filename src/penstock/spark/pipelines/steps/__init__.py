"""The steps that flows are made of, one file each, and the table of them all.

``STEPS`` is the one place that knows which steps there are: files are checked by it, the runner builds by
it, and the documentation prints it. A new step is a file here with a ``Step`` (see ``step``) and a line in
the table.
"""

from penstock.spark.pipelines.steps.analyze import ANALYZE
from penstock.spark.pipelines.steps.archive import ARCHIVE
from penstock.spark.pipelines.steps.dead_letters import DEAD_LETTERS
from penstock.spark.pipelines.steps.dedup import DEDUP
from penstock.spark.pipelines.steps.enrich import ENRICH
from penstock.spark.pipelines.steps.filter import FILTER
from penstock.spark.pipelines.steps.join import JOIN
from penstock.spark.pipelines.steps.mirror import MIRROR
from penstock.spark.pipelines.steps.parse import PARSE
from penstock.spark.pipelines.steps.replay import REPLAY
from penstock.spark.pipelines.steps.route import ROUTE
from penstock.spark.pipelines.steps.search import SEARCH
from penstock.spark.pipelines.steps.select import SELECT
from penstock.spark.pipelines.steps.sql import SQL
from penstock.spark.pipelines.steps.stateful import STATEFUL
from penstock.spark.pipelines.steps.step import Step
from penstock.spark.pipelines.steps.watermark import WATERMARK
from penstock.spark.pipelines.steps.window import WINDOW

STEPS: dict[str, Step] = {
    step.name: step
    for step in (
        PARSE,
        FILTER,
        SEARCH,
        SELECT,
        SQL,
        WATERMARK,
        WINDOW,
        JOIN,
        DEDUP,
        STATEFUL,
        ROUTE,
        ENRICH,
        DEAD_LETTERS,
        ARCHIVE,
        REPLAY,
        MIRROR,
        ANALYZE,
    )
}
"""Every step by its name, in the order of the documentation."""
