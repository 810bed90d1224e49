"""``penstock pipeline init`` and ``validate``: files, without Spark."""

from pathlib import Path

import pytest
import yaml
from tests.cli.terminal import Terminal

from penstock.spark.pipelines.loading import load_pipeline


@pytest.fixture(autouse=True)
def _in_an_empty_directory(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)


@pytest.fixture
def terminal(capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch) -> Terminal:
    """Nobody is asked anything here."""
    return Terminal("127.0.0.1:1", capsys, monkeypatch)


def test_init_writes_a_file_without_mistakes(terminal: Terminal) -> None:
    written = terminal.must("pipeline", "init")
    assert written.output.splitlines()[0] == "penstock-pipeline.yml: written"

    checked = terminal.must("pipeline", "validate")
    assert checked.output == "penstock-pipeline.yml: pipeline orders, 1 flow, no mistakes found\n"


def test_init_in_python_writes_a_file_without_mistakes(terminal: Terminal) -> None:
    terminal.must("pipeline", "init", "shop.py", "--python")

    assert terminal.must("pipeline", "validate", "shop.py").output.startswith(
        "shop.py: pipeline orders, 1 flow,"
    )
    assert set(load_pipeline(Path("shop.py")).views) == {"orders"}


def test_init_of_a_declarative_project_has_what_spark_allows(terminal: Terminal) -> None:
    written = terminal.must("pipeline", "init", "shop", "--sdp", "--json").json()

    assert written == {"written": ["shop/spark-pipeline.yml", "shop/transformations/orders.py"]}
    specification = yaml.safe_load(Path("shop/spark-pipeline.yml").read_text())
    assert specification.keys() <= {"name", "storage", "catalog", "database", "configuration", "libraries"}
    assert specification["storage"].startswith("file:///")
    assert specification["libraries"] == [{"glob": {"include": "transformations/**"}}]
    text = Path("shop/transformations/orders.py").read_text()
    assert "from pyspark import pipelines as dp" in text
    assert 'format("penstock")' in text


def test_init_does_not_write_over_a_file_unless_forced(terminal: Terminal) -> None:
    Path("a.yml").write_text("mine")

    refused = terminal.run("pipeline", "init", "a.yml")
    assert refused.code == 1
    assert (
        refused.errors
        == "Error: a.yml is already there.\nHint: Choose another name, or write over it with --force.\n"
    )
    assert Path("a.yml").read_text() == "mine"

    terminal.must("pipeline", "init", "a.yml", "--force")
    assert Path("a.yml").read_text().startswith("# A pipeline")


@pytest.mark.parametrize("words", [("a.py",), ("a.yml", "--python"), ("a", "--python", "--sdp")])
def test_init_refuses_what_does_not_go_together(terminal: Terminal, words: tuple[str, ...]) -> None:
    assert terminal.run("pipeline", "init", *words).code == 2


def test_validate_tells_all_mistakes_with_their_places(terminal: Terminal) -> None:
    Path("p.yml").write_text("name: p\nstorag: s\nflows:\n  f: {from: x}\n")

    answer = terminal.run("pipeline", "validate", "p.yml")

    assert answer.code == 2
    lines = answer.errors.splitlines()
    assert lines[0].startswith("p.yml:1:1: The pipeline has no 'storage'.")
    assert lines[1] == "p.yml:2:1: The pipeline has no key 'storag'. Did you mean 'storage'?"
    assert lines[-2] == "Error: p.yml has 4 mistakes."


def test_validate_tells_programs_in_json(terminal: Terminal) -> None:
    Path("p.yml").write_text(
        "name: p\nstorage: s\nflows:\n  f: {sql: SELECT 1, sink: {format: noop}, out: 1}\n"
    )

    answer = terminal.run("pipeline", "validate", "p.yml", "--json")

    assert answer.code == 2
    document = answer.json()
    assert document["valid"] is False
    (problem,) = document["problems"]
    assert (problem["file"], problem["line"], problem["column"]) == ("p.yml", 4, 44)
    assert problem["message"] == "The flow 'f' has no key 'out'."


def test_commands_about_a_missing_file_say_how_to_write_one(terminal: Terminal) -> None:
    for verb in ("validate", "run", "status", "stop"):
        answer = terminal.run("pipeline", verb)
        assert answer.code == 2
        assert (
            "penstock-pipeline.yml: There is no such file. Write one with `penstock pipeline init`."
            in answer.errors
        )


def test_run_of_a_flow_that_is_not_there_is_refused_before_spark_starts(terminal: Terminal) -> None:
    terminal.must("pipeline", "init")

    answer = terminal.run("pipeline", "run", "--flow", "revenu")

    assert answer.code == 2
    assert "There is no flow 'revenu'. Did you mean 'revenue'?" in answer.errors
