"""The image is built as images should be: pinned, small, not as root, and no shell in between."""

import re

from tests.deploy.deploy_folder import DEPLOY
from tests.deploy.dockerfile import stages_of

from penstock.cli.generate.health import health_command
from penstock.cli.generate.plan import METRICS_PORT, USER_ID
from penstock.config.sources import load_broker_config

PATH = DEPLOY / "docker" / "Dockerfile"
IGNORED = DEPLOY / "docker" / "Dockerfile.dockerignore"
BUILD, FINAL = stages_of(PATH)
SOURCES = {"pyproject.toml", "README.md", "LICENSE", "src"}


def test_bases_are_pinned_to_a_version_and_the_same() -> None:
    assert BUILD.base == FINAL.base
    assert re.fullmatch(r"python:3\.\d+\.\d+-slim-\w+", FINAL.base)


def test_only_the_last_stage_runs_and_not_as_root() -> None:
    assert FINAL.only("USER").rest == f"{USER_ID}:{USER_ID}"
    words = [each.word for each in FINAL.instructions]
    assert not [word for word in words[words.index("USER") :] if word in ("RUN", "COPY")]


def test_commands_are_run_without_a_shell() -> None:
    assert FINAL.only("ENTRYPOINT").exec_form == ["penstock"]
    assert FINAL.only("CMD").exec_form == ["serve"]
    options, _, command = FINAL.only("HEALTHCHECK").rest.partition(" CMD ")
    assert {word.partition("=")[0] for word in options.split()} == {
        "--interval",
        "--timeout",
        "--start-period",
        "--retries",
    }
    assert command.startswith('["python", "-c", ')


def test_nothing_is_added_fetched_or_left_behind() -> None:
    for stage in (BUILD, FINAL):
        assert not stage.all("ADD")
        for run in stage.all("RUN"):
            assert not re.search(r"\b(?:curl|wget|sudo|apt-get|apt)\b|[|;<>`]|\$\(", run.rest), run.rest
            assert " pip " not in run.rest or "--no-cache-dir" in run.rest
    assert not [run for run in FINAL.all("RUN") if "pip" in run.rest]


def test_wheels_are_installed_from_the_first_stage_alone() -> None:
    (install,) = [run.rest for run in BUILD.all("RUN") if " pip install " in run.rest]
    assert "--no-index" in install


def test_builder_gets_what_the_wheel_is_made_of_and_nothing_else() -> None:
    copied = {word for each in BUILD.all("COPY") for word in each.rest.split()[:-1]}
    assert copied == SOURCES
    allowed = {line[1:] for line in IGNORED.read_text().splitlines() if line.startswith("!")}
    assert allowed == SOURCES
    assert "*" in IGNORED.read_text().splitlines()


def test_settings_of_the_image_are_settings() -> None:
    settings = {name: value for name, value in FINAL.environment.items() if name.startswith("PENSTOCK_")}
    config = load_broker_config(environment=settings)

    assert config.data_directory == "/var/lib/penstock/data"
    assert config.string("metrics.listener") == f"0.0.0.0:{METRICS_PORT}"
    assert str(METRICS_PORT) in FINAL.only("EXPOSE").rest.split()
    assert health_command(METRICS_PORT, "/health/ready")[-1] in FINAL.only("HEALTHCHECK").rest
