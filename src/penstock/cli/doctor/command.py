"""``penstock doctor``."""

import os
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from penstock.cli.options import Json, examples
from penstock.cli.output import print_json, print_table, working

if TYPE_CHECKING:
    from penstock.cli.doctor.finding import Finding


def attach(app: typer.Typer) -> None:
    """Add the command to the tree."""
    app.command(
        "doctor",
        epilog=examples(
            "penstock doctor",
            "penstock doctor --config server.yaml --data-dir /var/lib/penstock",
            "penstock doctor --bootstrap-server db1:9092 --json",
        ),
    )(doctor)


def doctor(
    data_directory: Annotated[
        Path | None, typer.Option("--data-dir", "-d", metavar="DIR", help="Where the data lie, or would.")
    ] = None,
    config: Annotated[
        Path | None,
        typer.Option(
            "--config", "-c", metavar="FILE", envvar="PENSTOCK_CONFIG", help="The broker's settings file."
        ),
    ] = None,
    listen: Annotated[
        str | None, typer.Option("--listen", "-a", metavar="HOST:PORT", help="Where the broker listens.")
    ] = None,
    bootstrap_server: Annotated[
        str | None,
        typer.Option(
            "--bootstrap-server",
            metavar="HOST:PORT",
            envvar="PENSTOCK_BOOTSTRAP_SERVER",
            help="A cluster that must be reachable; otherwise only this machine is looked at.",
        ),
    ] = None,
    as_json: Json = False,
) -> None:
    """Check whether a broker runs well here: port, disk, limits, settings, clock, Python, Java, cluster.

    Exits with 1 if there is a problem. Changes nothing; the disk is measured with a file that has no name.
    """
    from penstock.cli.doctor.finding import Level
    from penstock.cli.failure import ExitCode

    flags = {"log.dirs": data_directory and str(data_directory), "listeners": listen}
    with working("Looking around"):
        findings = _examine(config, {name: text for name, text in flags.items() if text}, bootstrap_server)
    if as_json:
        print_json([finding.as_json() for finding in findings])
    else:
        _print(findings)
    if any(finding.level is Level.PROBLEM for finding in findings):
        raise typer.Exit(ExitCode.FAILED)


def _examine(file: Path | None, flags: dict[str, str], bootstrap_server: str | None) -> "list[Finding]":
    from penstock.cli.doctor.brokers import check_brokers
    from penstock.cli.doctor.configuration import check_configuration
    from penstock.cli.doctor.disk import check_disk
    from penstock.cli.doctor.java import check_java
    from penstock.cli.doctor.machine import check_clock, check_open_files
    from penstock.cli.doctor.port import check_port
    from penstock.cli.doctor.runtime import check_runtime, installed_version

    config, findings = check_configuration(file, os.environ, flags)
    findings.append(check_port(config.listeners[0]))
    findings.extend(check_disk(Path(config.data_directory)))
    findings.append(check_open_files())
    findings.append(check_clock())
    findings.extend(check_runtime())
    findings.append(check_java(os.environ, is_needed=installed_version("pyspark") is not None))
    if bootstrap_server is not None:
        findings.extend(check_brokers(bootstrap_server))
    return findings


def _print(findings: "list[Finding]") -> None:
    print_table(
        ("CHECK", "", "FINDING", "WHAT TO DO"),
        [(each.check, each.level.value, each.text, each.advice) for each in findings],
    )
    print(f"\n{_count(findings, 'problem')}, {_count(findings, 'warning')}")


def _count(findings: "list[Finding]", level: str) -> str:
    count = sum(each.level == level for each in findings)
    return f"{count} {level}" if count == 1 else f"{count} {level}s"
