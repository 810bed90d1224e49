"""``penstock mirror run|status``."""

from pathlib import Path
from typing import Annotated

import typer

from penstock.cli.options import Json, examples, new_app
from penstock.cli.words import key_values

From = Annotated[
    str, typer.Option("--from", metavar="HOST:PORT", help="A broker of the cluster to copy from.")
]
To = Annotated[str, typer.Option("--to", metavar="HOST:PORT", help="A broker of the cluster to copy to.")]
FromConfig = Annotated[
    Path | None,
    typer.Option(
        "--from-config",
        metavar="FILE",
        help="TLS and a login of the cluster to copy from, as Kafka's own tools take --command-config.",
    ),
]
ToConfig = Annotated[
    Path | None,
    typer.Option("--to-config", metavar="FILE", help="The same for the cluster to copy to."),
]

mirror_app = new_app(
    "Keep topics and groups of one cluster in another.",
    "penstock mirror run --from east:9092 --to west:9092 --topics 'orders.*'",
    "penstock mirror status --from east:9092 --to west:9092",
)


def attach(app: typer.Typer) -> None:
    """Add the group to the tree."""
    app.add_typer(mirror_app, name="mirror")


@mirror_app.command(
    epilog=examples(
        "penstock mirror run --from east:9092 --to west:9092 --topics 'orders.*'",
        "penstock mirror run --from east:9092 --to west:9092 --topic orders --rename 'east.{topic}'",
        "penstock mirror run --from east:9092 --to west:9092 --topic orders --available-now --json",
        "penstock mirror run --from kafka:9093 --from-config kafka.properties --to west:9092 --topics '.*'",
    )
)
def run(  # noqa: PLR0913 - one parameter for each option
    source: From,
    target: To,
    source_config: FromConfig = None,
    target_config: ToConfig = None,
    topics: Annotated[
        str | None,
        typer.Option(
            "--topics", metavar="REGEX", help="All topics whose whole name matches, later ones too."
        ),
    ] = None,
    topic: Annotated[
        list[str] | None, typer.Option("--topic", metavar="TOPIC", help="A topic by its name; repeatable.")
    ] = None,
    rename: Annotated[
        str,
        typer.Option("--rename", metavar="TEMPLATE", help="What copies are called, such as 'east.{topic}'."),
    ] = "{topic}",
    groups: Annotated[
        str,
        typer.Option(
            "--groups", metavar="REGEX", help="Groups to carry over, by their whole names; '' for none."
        ),
    ] = ".*",
    configs: Annotated[
        bool, typer.Option("--configs/--no-configs", help="Whether settings of topics are carried over too.")
    ] = True,
    offset_header: Annotated[
        bool, typer.Option("--offset-header", help="Give copies a header with the offset they had.")
    ] = False,
    available_now: Annotated[
        bool, typer.Option("--available-now", help="Copy what there is, and end.")
    ] = False,
    every: Annotated[
        str,
        typer.Option(
            "--every", metavar="DURATION", help="How often topics and groups are looked at, like 30s or 5m."
        ),
    ] = "30s",
    max_records: Annotated[
        int, typer.Option("--max-records", min=1, help="Most offsets that are copied at once.")
    ] = 200_000,
    storage: Annotated[
        str | None,
        typer.Option(
            "--storage", metavar="PATH", help="Where progress is kept, to go on from exactly there."
        ),
    ] = None,
    option: Annotated[
        list[str] | None,
        typer.Option("--option", metavar="KEY=VALUE", help="An option of the data source; repeatable."),
    ] = None,
    master: Annotated[
        str | None, typer.Option("--master", metavar="MASTER", help="Where Spark runs; local[*] if left out.")
    ] = None,
    conf: Annotated[
        list[str] | None, typer.Option("--conf", metavar="KEY=VALUE", help="A setting of Spark; repeatable.")
    ] = None,
    as_json: Json = False,
) -> None:
    """Copy records until Ctrl-C or SIGTERM, each once; the next run goes on from there."""
    from penstock.cli.mirror.access_file import access_to
    from penstock.cli.mirror.running import RunWishes, run_mirror

    run_mirror(
        RunWishes(
            source=access_to(source, source_config, option="--from"),
            target=access_to(target, target_config, option="--to"),
            topic_pattern=topics,
            topics=tuple(topic or ()),
            template=rename,
            group_pattern=groups or None,
            has_configs=configs,
            has_offset_header=offset_header,
            is_available_now=available_now,
            every=every,
            records_max=max_records,
            storage=storage,
            options=key_values(option, option="--option"),
            master=master,
            conf=key_values(conf, option="--conf"),
            as_json=as_json,
        )
    )


@mirror_app.command(
    epilog=examples(
        "penstock mirror status --from east:9092 --to west:9092",
        "penstock mirror status --from kafka:9093 --from-config kafka.properties --to west:9092",
    )
)
def status(
    source: From,
    target: To,
    source_config: FromConfig = None,
    target_config: ToConfig = None,
    as_json: Json = False,
) -> None:
    """Show how far the copies in one cluster are behind the topics of another."""
    from penstock.cli.mirror.access_file import access_to
    from penstock.cli.mirror.status import print_status

    print_status(
        access_to(source, source_config, option="--from"),
        access_to(target, target_config, option="--to"),
        as_json=as_json,
    )
