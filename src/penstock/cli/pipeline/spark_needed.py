"""Commands that need Spark say so before they try."""

from importlib.util import find_spec

from penstock.cli.failure import CommandFailed


def require_spark() -> None:
    """Fail with advice unless pyspark is installed."""
    if find_spec("pyspark") is None:
        raise CommandFailed(
            "Pipelines run on Spark, and pyspark is not installed.",
            hint="Install it with `pip install 'penstock[spark]'`; `penstock doctor` looks for Java.",
        )
