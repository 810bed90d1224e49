"""``penstock pipeline init|validate|run|list|status|stop``."""

from pathlib import Path
from typing import Annotated

import typer

from penstock.cli.options import DEFAULT_BOOTSTRAP_SERVER, BootstrapServer, Json, examples, new_app
from penstock.cli.words import key_values

DEFAULT_FILE = Path("penstock-pipeline.yml")

File = Annotated[Path, typer.Argument(metavar="[FILE]", help="A pipeline file, of YAML or Python.")]
Server = Annotated[
    str | None,
    typer.Option(
        "--bootstrap-server",
        metavar="HOST:PORT",
        envvar="PENSTOCK_BOOTSTRAP_SERVER",
        help="The cluster of sources and sinks that name none; wins over `kafka` in the file.",
    ),
]

pipeline_app = new_app(
    "Write, check, run and watch pipelines on Spark.",
    "penstock pipeline init clicks.yml",
    "penstock pipeline validate clicks.yml",
    "penstock pipeline run clicks.yml",
)


def attach(app: typer.Typer) -> None:
    """Add the group to the tree."""
    app.add_typer(pipeline_app, name="pipeline")


@pipeline_app.command(
    epilog=examples(
        "penstock pipeline init",
        "penstock pipeline init clicks.yml",
        "penstock pipeline init clicks.py --python",
        "penstock pipeline init clicks --sdp",
    )
)
def init(
    path: Annotated[
        Path | None, typer.Argument(metavar="[PATH]", help="The file to write; with --sdp, a directory.")
    ] = None,
    python: Annotated[bool, typer.Option("--python", help="Write a pipeline in Python.")] = False,
    sdp: Annotated[
        bool, typer.Option("--sdp", help="Write a project of Spark's Declarative Pipelines.")
    ] = False,
    force: Annotated[bool, typer.Option("--force", help="Write over what is there.")] = False,
    as_json: Json = False,
) -> None:
    """Write a commented pipeline file to start from."""
    from penstock.cli.pipeline.beginning import write_template

    write_template(path, is_python=python, is_declarative=sdp, is_forced=force, as_json=as_json)


@pipeline_app.command(
    epilog=examples(
        "penstock pipeline validate",
        "penstock pipeline validate clicks.yml --analyze",
        "penstock pipeline validate clicks.py --json",
    )
)
def validate(
    file: File = DEFAULT_FILE,
    analyze: Annotated[
        bool,
        typer.Option("--analyze", help="Let Spark analyse every query too; it starts, but reads no data."),
    ] = False,
    as_json: Json = False,
) -> None:
    """Find the mistakes in a pipeline file, with their lines, without running it."""
    from penstock.cli.pipeline.checking import check_file

    check_file(file, is_analysed=analyze, as_json=as_json)


@pipeline_app.command(
    epilog=examples(
        "penstock pipeline run",
        "penstock pipeline run clicks.yml --available-now",
        "penstock pipeline run clicks.yml --master 'local[4]' --conf spark.driver.memory=4g",
        "penstock pipeline run clicks.yml --remote sc://spark:15002 --metrics-port 9095",
    )
)
def run(  # noqa: PLR0913 - one parameter for each option
    file: File = DEFAULT_FILE,
    flows: Annotated[
        list[str] | None, typer.Option("--flow", metavar="NAME", help="Run this flow only; repeatable.")
    ] = None,
    available_now: Annotated[
        bool, typer.Option("--available-now", help="Read what there is, whatever the triggers say, and end.")
    ] = False,
    master: Annotated[
        str | None, typer.Option("--master", metavar="MASTER", help="Where Spark runs; local[*] if left out.")
    ] = None,
    remote: Annotated[
        str | None, typer.Option("--remote", metavar="sc://HOST:PORT", help="A server of Spark Connect.")
    ] = None,
    conf: Annotated[
        list[str] | None,
        typer.Option("--conf", metavar="KEY=VALUE", help="A setting of Spark; wins over the file's."),
    ] = None,
    package: Annotated[
        list[str] | None,
        typer.Option("--package", metavar="GROUP:NAME:VERSION", help="A package for Java; repeatable."),
    ] = None,
    metrics_port: Annotated[
        int | None,
        typer.Option(
            "--metrics-port", min=0, max=65_535, help="Serve Prometheus's metrics here; 0 chooses one."
        ),
    ] = None,
    metrics_host: Annotated[
        str,
        typer.Option("--metrics-host", metavar="HOST", help="Who may ask for metrics; this machine alone."),
    ] = "127.0.0.1",
    metrics_file: Annotated[
        Path | None, typer.Option("--metrics-file", metavar="PATH", help="Write the metrics to a file too.")
    ] = None,
    progress_topic: Annotated[
        bool,
        typer.Option(
            "--progress-topic/--no-progress-topic", help="Write progress to the topic __penstock_pipelines."
        ),
    ] = True,
    bootstrap_server: Server = None,
    as_json: Json = False,
) -> None:
    """Run a pipeline until Ctrl-C or SIGTERM, or until its triggers end; the next run goes on from there."""
    from penstock.cli.pipeline.running import RunWishes, run_file
    from penstock.spark.pipelines.running.sessions import SessionWishes

    session = SessionWishes(
        master=master,
        remote=remote,
        conf=key_values(conf, option="--conf"),
        packages=tuple(package or ()),
        is_short=available_now,
    )
    wishes = RunWishes(
        session=session,
        flows=tuple(flows or ()),
        is_available_now=available_now,
        bootstrap_server=bootstrap_server,
        metrics_address=None if metrics_port is None else (metrics_host, metrics_port),
        metrics_file=metrics_file,
        has_progress_topic=progress_topic,
        as_json=as_json,
    )
    run_file(file, wishes)


@pipeline_app.command(
    "list", epilog=examples("penstock pipeline list", "penstock pipeline list pipelines/*.yml --json")
)
def list_pipelines(
    files: Annotated[
        list[Path] | None,
        typer.Argument(metavar="[FILE]...", help="Pipeline files, to see those too that never ran."),
    ] = None,
    bootstrap_server: BootstrapServer = DEFAULT_BOOTSTRAP_SERVER,
    as_json: Json = False,
) -> None:
    """List pipelines: those that the cluster has heard of, and those of files."""
    from penstock.cli.pipeline.listing import list_all

    list_all(files or [], bootstrap_server, as_json=as_json)


@pipeline_app.command(
    epilog=examples("penstock pipeline status", "penstock pipeline status clicks.yml --json")
)
def status(
    file: File = DEFAULT_FILE,
    bootstrap_server: Server = None,
    as_json: Json = False,
) -> None:
    """Show whether a pipeline runs, and how far each of its flows is."""
    from penstock.cli.pipeline.listing import show_status

    show_status(file, bootstrap_server, as_json=as_json)


@pipeline_app.command(
    epilog=examples("penstock pipeline stop", "penstock pipeline stop clicks.yml --timeout 2m")
)
def stop(
    file: File = DEFAULT_FILE,
    timeout: Annotated[
        str, typer.Option("--timeout", metavar="DURATION", help="How long to wait for its end.")
    ] = "60s",
    as_json: Json = False,
) -> None:
    """Stop the process that runs a pipeline on this machine, and wait for its end."""
    from penstock.cli.pipeline.stopping import stop_run

    stop_run(file, timeout, as_json=as_json)
