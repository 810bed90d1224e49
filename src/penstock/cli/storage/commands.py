"""``penstock storage analyze|segments|verify``."""

from pathlib import Path
from typing import Annotated

import typer

from penstock.cli.options import DEFAULT_BOOTSTRAP_SERVER, BootstrapServer, Json, examples, new_app
from penstock.cli.output import print_json

DEFAULT_DATA_DIRECTORY = Path("penstock-data")

TopicNames = Annotated[
    list[str] | None, typer.Argument(metavar="[TOPIC]...", help="Names of topics; all when left out.")
]
DataDirectory = Annotated[
    Path,
    typer.Option(
        "--data-dir", "-d", metavar="DIR", help="A broker's data; only read, also while the broker runs."
    ),
]
Internal = Annotated[bool, typer.Option("--internal", help="Internal topics too.")]

storage_app = new_app(
    "Analyze what topics hold, check stored files.",
    "penstock storage analyze orders",
    "penstock storage verify --data-dir /var/lib/penstock",
)


def attach(app: typer.Typer) -> None:
    """Add the group of commands to the tree."""
    app.add_typer(storage_app, name="storage")


@storage_app.command(
    epilog=examples(
        "penstock storage analyze",
        "penstock storage analyze orders",
        "penstock storage analyze orders --data-dir /var/lib/penstock --top 20",
        "penstock storage analyze --bootstrap-server db1:9092 --json",
        "penstock storage analyze orders --spark --html orders.html",
        "penstock storage analyze --spark --archive data/archive --parquet data/analysis",
    )
)
def analyze(  # noqa: PLR0913 - typer wants one argument per option
    topics: TopicNames = None,
    data_directory: Annotated[
        Path | None,
        typer.Option(
            "--data-dir",
            "-d",
            metavar="DIR",
            help="Read a broker's data instead of asking a cluster; also while the broker runs.",
        ),
    ] = None,
    top: Annotated[int, typer.Option("--top", min=0, max=1000, help="How many keys to show.")] = 10,
    internal: Internal = False,
    on_spark: Annotated[
        bool,
        typer.Option(
            "--spark",
            help="Count on Spark, all cores at once and every key exactly: also types of values, what "
            "compaction would gain, a map of days and hours.",
        ),
    ] = False,
    archive: Annotated[
        str | None,
        typer.Option("--archive", metavar="PATH", help="Read an archive of Parquet files (with --spark)."),
    ] = None,
    html: Annotated[
        Path | None,
        typer.Option("--html", metavar="FILE", help="Write a report with plots as well (with --spark)."),
    ] = None,
    parquet: Annotated[
        str | None,
        typer.Option("--parquet", metavar="DIR", help="Write all aggregates as tables too (with --spark)."),
    ] = None,
    master: Annotated[
        str | None,
        typer.Option("--master", metavar="MASTER", help="Where Spark runs; all cores here if left out."),
    ] = None,
    bootstrap_server: BootstrapServer = DEFAULT_BOOTSTRAP_SERVER,
    as_json: Json = False,
) -> None:
    """Count what topics hold: messages, bytes, sizes, compression, keys and their skew, times.

    Everything is read once, from a cluster or from the files of one broker, with little memory. A message's
    size is what it takes before compression.
    """
    if on_spark:
        from penstock.cli.storage.spark_analysing import SparkAnalysis, analyse_on_spark

        analyse_on_spark(
            SparkAnalysis(
                topics=tuple(topics or ()),
                data_directory=data_directory,
                archive=archive,
                bootstrap_server=bootstrap_server,
                internal=internal,
                top=top,
                html=html,
                parquet=parquet,
                master=master,
                as_json=as_json,
            )
        )
        return
    _refuse_without_spark(archive=archive, html=html, parquet=parquet, master=master)
    from penstock.cli.storage.analysing import analyse_cluster, analyse_directory, stored_partitions
    from penstock.cli.storage.analysis_report import print_overview, print_topic

    names = topics or []
    if data_directory is not None:
        from penstock.storage.read_only_filesystem import ReadOnlyFileSystem

        files = ReadOnlyFileSystem()
        found = analyse_directory(
            files, stored_partitions(files, str(data_directory), names, internal=internal)
        )
    else:
        from penstock.cli.wire_session import connected

        with connected(bootstrap_server) as cluster:
            found = analyse_cluster(cluster, names, internal=internal)
    if as_json:
        print_json([topic.as_json(top_max=top) for topic in found])
    elif names:
        for topic in found:
            print_topic(topic, top_max=top)
    elif found:
        print_overview(found)


def _refuse_without_spark(**options: object) -> None:
    from penstock.model.errors import UsageError

    for name, given in options.items():
        if given is not None:
            raise UsageError(f"--{name} needs --spark.")


@storage_app.command(
    epilog=examples(
        "penstock storage segments orders",
        "penstock storage segments orders --data-dir /var/lib/penstock --json",
    )
)
def segments(
    topics: TopicNames = None,
    data_directory: DataDirectory = DEFAULT_DATA_DIRECTORY,
    internal: Internal = False,
    as_json: Json = False,
) -> None:
    """List the segments of topics in a data directory: offsets, records, bytes, times."""
    from penstock.cli.storage.analysing import stored_partitions
    from penstock.cli.storage.segment_report import outlines, print_outlines
    from penstock.storage.read_only_filesystem import ReadOnlyFileSystem

    files = ReadOnlyFileSystem()
    found = outlines(files, stored_partitions(files, str(data_directory), topics or [], internal=internal))
    if as_json:
        print_json(
            [
                {"topic": partition.topic, "partition": partition.partition, **outline.as_json()}
                for partition, outline in found
            ]
        )
    else:
        print_outlines(found)


@storage_app.command(
    epilog=examples(
        "penstock storage verify",
        "penstock storage verify orders --data-dir /var/lib/penstock",
        "penstock storage verify --internal --json",
    )
)
def verify(
    topics: TopicNames = None,
    data_directory: DataDirectory = DEFAULT_DATA_DIRECTORY,
    internal: Internal = False,
    as_json: Json = False,
) -> None:
    """Check every batch and index entry in a data directory; nothing is repaired.

    Exits with 1 if there is damage. What a broker is writing at the moment may be remarked, but is none.
    """
    from penstock.cli.failure import ExitCode
    from penstock.cli.storage.analysing import stored_partitions
    from penstock.cli.storage.verify_report import print_verdicts, verify_all
    from penstock.storage.read_only_filesystem import ReadOnlyFileSystem

    files = ReadOnlyFileSystem()
    verdicts = verify_all(
        files, stored_partitions(files, str(data_directory), topics or [], internal=internal)
    )
    if as_json:
        print_json([verdict.as_json() for verdict in verdicts])
    else:
        print_verdicts(verdicts)
    if not all(verdict.is_sound for verdict in verdicts):
        raise typer.Exit(ExitCode.FAILED)
