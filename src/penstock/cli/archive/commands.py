"""``penstock archive run|compact|list|replay``."""

from enum import StrEnum
from typing import Annotated

import typer

from penstock.cli.options import DEFAULT_BOOTSTRAP_SERVER, BootstrapServer, Json, examples, new_app
from penstock.cli.words import key_values


class Codec(StrEnum):
    """How Parquet files are compressed."""

    ZSTD = "zstd"
    SNAPPY = "snappy"
    GZIP = "gzip"
    LZ4_RAW = "lz4_raw"
    UNCOMPRESSED = "uncompressed"


ArchivePath = Annotated[
    str,
    typer.Argument(metavar="PATH", help="The directory of the archive, or a URI that Spark can write."),
]
CodecOption = Annotated[Codec, typer.Option("--codec", help="How files are compressed.")]
Master = Annotated[
    str | None, typer.Option("--master", metavar="MASTER", help="Where Spark runs; local[*] if left out.")
]
Conf = Annotated[
    list[str] | None, typer.Option("--conf", metavar="KEY=VALUE", help="A setting of Spark; repeatable.")
]
SourceOption = Annotated[
    list[str] | None,
    typer.Option("--option", metavar="KEY=VALUE", help="An option of the data source; repeatable."),
]

archive_app = new_app(
    "Keep topics as Parquet files, and replay them.",
    "penstock archive run data/archive orders",
    "penstock archive list data/archive",
)


def attach(app: typer.Typer) -> None:
    """Add the group to the tree."""
    app.add_typer(archive_app, name="archive")


@archive_app.command(
    epilog=examples(
        "penstock archive run data/archive orders",
        "penstock archive run data/archive --pattern 'orders\\..*' --every 5m",
        "penstock archive run data/archive orders payments --available-now",
        "penstock archive run s3a://bucket/archive orders --conf spark.jars.packages=GROUP:NAME:VERSION",
    )
)
def run(  # noqa: PLR0913 - one parameter for each option
    path: ArchivePath,
    topics: Annotated[list[str] | None, typer.Argument(metavar="[TOPIC]...", help="Names of topics.")] = None,
    pattern: Annotated[
        str | None,
        typer.Option(
            "--pattern", metavar="REGEX", help="All topics whose whole name matches, later ones too."
        ),
    ] = None,
    available_now: Annotated[
        bool, typer.Option("--available-now", help="Archive what there is, and end.")
    ] = False,
    every: Annotated[
        str, typer.Option("--every", metavar="DURATION", help="How often files are written, like 30s or 5m.")
    ] = "1m",
    max_records: Annotated[
        int, typer.Option("--max-records", min=1, help="Most offsets that are archived at once.")
    ] = 1_000_000,
    max_bytes: Annotated[
        str | None,
        typer.Option(
            "--max-bytes",
            metavar="SIZE",
            help="Most stored bytes that are archived at once, by the size that records have on average.",
        ),
    ] = None,
    codec: CodecOption = Codec.ZSTD,
    checkpoint: Annotated[
        str | None,
        typer.Option("--checkpoint", metavar="PATH", help="Where progress is kept; below PATH if left out."),
    ] = None,
    option: SourceOption = None,
    master: Master = None,
    conf: Conf = None,
    bootstrap_server: BootstrapServer = DEFAULT_BOOTSTRAP_SERVER,
    as_json: Json = False,
) -> None:
    """Archive topics until Ctrl-C or SIGTERM, each record once; the next run goes on from there."""
    from penstock.cli.archive.running import RunWishes, run_archive
    from penstock.cli.archive.spark import SparkWishes

    run_archive(
        RunWishes(
            path=path,
            topics=tuple(topics or ()),
            pattern=pattern,
            is_available_now=available_now,
            every=every,
            records_max=max_records,
            bytes_max=max_bytes,
            codec=codec.value,
            checkpoint=checkpoint,
            options=key_values(option, option="--option"),
            bootstrap_server=bootstrap_server,
            spark=SparkWishes(master=master, conf=key_values(conf, option="--conf"), is_short=available_now),
            as_json=as_json,
        )
    )


@archive_app.command(
    epilog=examples(
        "penstock archive compact data/archive",
        "penstock archive compact data/archive --dry-run",
        "penstock archive compact data/archive --small 64MiB --target 256MiB --grace 1h",
    )
)
def compact(  # noqa: PLR0913 - one parameter for each option
    path: ArchivePath,
    small: Annotated[
        str, typer.Option("--small", metavar="SIZE", help="Files below this size are merged.")
    ] = "128MiB",
    target: Annotated[
        str, typer.Option("--target", metavar="SIZE", help="No file is made of more than this.")
    ] = "512MiB",
    closed_after: Annotated[
        str,
        typer.Option(
            "--closed-after", metavar="DURATION", help="How long after its end an hour counts as over."
        ),
    ] = "1h",
    grace: Annotated[
        str,
        typer.Option(
            "--grace", metavar="DURATION", help="How long merged files stay for those who still read them."
        ),
    ] = "24h",
    codec: CodecOption = Codec.ZSTD,
    dry_run: Annotated[bool, typer.Option("--dry-run", help="Only say what would be merged.")] = False,
    master: Master = None,
    conf: Conf = None,
    as_json: Json = False,
) -> None:
    """Merge the small files of hours that are over, and delete those that were merged before.

    Safe beside a running `archive run`, and against being killed at any moment.
    """
    from penstock.cli.archive.compaction import CompactWishes, compact_archive
    from penstock.cli.archive.spark import SparkWishes

    compact_archive(
        CompactWishes(
            path=path,
            small=small,
            target=target,
            closed_after=closed_after,
            grace=grace,
            codec=codec.value,
            is_dry_run=dry_run,
            spark=SparkWishes(master=master, conf=key_values(conf, option="--conf"), is_short=True),
            as_json=as_json,
        )
    )


@archive_app.command(
    "list",
    epilog=examples(
        "penstock archive list data/archive",
        "penstock archive list data/archive orders --partitions",
        "penstock archive list data/archive --hours --json",
    ),
)
def list_archive(
    path: ArchivePath,
    topics: Annotated[
        list[str] | None, typer.Argument(metavar="[TOPIC]...", help="Names of topics; all when left out.")
    ] = None,
    partitions: Annotated[
        bool, typer.Option("--partitions", help="A line for each partition, with offsets and gaps.")
    ] = False,
    hours: Annotated[bool, typer.Option("--hours", help="A line for each hour.")] = False,
    master: Master = None,
    conf: Conf = None,
    as_json: Json = False,
) -> None:
    """List what an archive has, by its manifest: records, files, offsets, times."""
    from penstock.cli.archive.listing import print_archive
    from penstock.cli.archive.spark import SparkWishes

    spark = SparkWishes(master=master, conf=key_values(conf, option="--conf"), is_short=True)
    print_archive(
        path, topics or [], has_partitions=partitions, has_hours=hours, spark=spark, as_json=as_json
    )


@archive_app.command(
    epilog=examples(
        "penstock archive replay orders --from data/archive --to orders.again --create",
        "penstock archive replay orders --from data/archive --to again --since 2026-01-31 --until 2026-02-01",
        "penstock archive replay orders --to orders.again --since 2h --records-per-second 1000",
        "penstock archive replay orders --to orders.again --offsets 0:500-999 --dry-run",
    )
)
def replay(  # noqa: PLR0913 - one parameter for each option
    topic: Annotated[str, typer.Argument(metavar="TOPIC", help="The topic whose records they are.")],
    to: Annotated[str, typer.Option("--to", metavar="TOPIC", help="The topic to write to.")],
    source: Annotated[
        str | None,
        typer.Option(
            "--from", metavar="PATH", help="The archive to read; left out, the topic itself is read."
        ),
    ] = None,
    since: Annotated[
        str | None,
        typer.Option("--since", metavar="TIME", help="From this time on, like 2026-01-31T08:00 or 2h."),
    ] = None,
    until: Annotated[
        str | None,
        typer.Option("--until", metavar="TIME", help="Before this time, like 2026-01-31T08:00 or 1h."),
    ] = None,
    offsets: Annotated[
        list[str] | None,
        typer.Option(
            "--offsets",
            metavar="PARTITION:FIRST-LAST",
            help="Only these offsets, and only of partitions that are named; repeatable.",
        ),
    ] = None,
    records_per_second: Annotated[
        int | None, typer.Option("--records-per-second", min=1, help="Not faster than this, on average.")
    ] = None,
    create: Annotated[
        bool,
        typer.Option(
            "--create", help="Make the topic if it is not there, with the same partitions, kept for ever."
        ),
    ] = False,
    dry_run: Annotated[bool, typer.Option("--dry-run", help="Only count what would be written.")] = False,
    name: Annotated[
        str | None,
        typer.Option(
            "--name",
            metavar="NAME",
            help="What this replay is known by; the same name goes on with the same one.",
        ),
    ] = None,
    checkpoint: Annotated[
        str | None, typer.Option("--checkpoint", metavar="PATH", help="Where plan and progress are kept.")
    ] = None,
    option: SourceOption = None,
    master: Master = None,
    conf: Conf = None,
    to_bootstrap_server: Annotated[
        str | None,
        typer.Option(
            "--to-bootstrap-server",
            metavar="HOST:PORT",
            help="The cluster to write to, if it is another one.",
        ),
    ] = None,
    bootstrap_server: BootstrapServer = DEFAULT_BOOTSTRAP_SERVER,
    as_json: Json = False,
) -> None:
    """Write records of an archive, or of a stretch of a topic, once more into a topic.

    In order, exactly once, with their partitions if there are as many, timestamps and headers. Consumer
    groups are not touched. The same command goes on with a replay that was interrupted.
    """
    from penstock.cli.archive.replaying import ReplayWishes, replay_records
    from penstock.cli.archive.spark import SparkWishes

    replay_records(
        ReplayWishes(
            topic=topic,
            to=to,
            archive=source,
            since=since,
            until=until,
            offsets=tuple(offsets or ()),
            records_per_second=records_per_second,
            creates_topic=create,
            is_dry_run=dry_run,
            name=name,
            checkpoint=checkpoint,
            options=key_values(option, option="--option"),
            bootstrap_server=bootstrap_server,
            to_bootstrap_server=to_bootstrap_server or bootstrap_server,
            spark=SparkWishes(master=master, conf=key_values(conf, option="--conf"), is_short=True),
            as_json=as_json,
        )
    )
