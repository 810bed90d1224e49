"""``penstock generate``: what it writes, and what it leaves alone."""

from pathlib import Path

import pytest
import yaml

from penstock.cli.generate.kinds import KINDS, all_files
from penstock.cli.generate.plan import Plan
from penstock.cli.main import main

Captured = pytest.CaptureFixture[str]


def generate(*words: str) -> object:
    """Run the command; its exit code."""
    with pytest.raises(SystemExit) as ended:
        main(["generate", *words])
    return ended.value.code or 0


def files_in(directory: Path) -> dict[str, str]:
    paths = (path for path in directory.rglob("*") if path.is_file())
    return {path.relative_to(directory).as_posix(): path.read_text() for path in paths}


@pytest.mark.parametrize("kind", KINDS)
def test_each_kind_writes_its_files_and_names_them(kind: str, tmp_path: Path, capsys: Captured) -> None:
    assert generate(kind, "--output", str(tmp_path)) == 0

    wanted = KINDS[kind](Plan())
    assert files_in(tmp_path) == wanted
    assert capsys.readouterr().out == "".join(f"wrote {tmp_path / path}\n" for path in wanted)


def test_all_writes_all(tmp_path: Path) -> None:
    assert generate("all", "--nodes", "5", "--output", str(tmp_path)) == 0
    assert files_in(tmp_path) == all_files(Plan(nodes=5))


def test_second_time_nothing_is_written(tmp_path: Path, capsys: Captured) -> None:
    generate("systemd", "--output", str(tmp_path))
    capsys.readouterr()

    assert generate("systemd", "--output", str(tmp_path)) == 0
    assert capsys.readouterr().out == "4 of 4 files were there already, just the same\n"


def test_changed_file_is_left_alone_and_nothing_else_is_written(tmp_path: Path, capsys: Captured) -> None:
    changed = tmp_path / "systemd" / "penstock.properties"
    changed.parent.mkdir()
    changed.write_text("node.id=7\n")

    assert generate("systemd", "--output", str(tmp_path)) == 1
    assert files_in(tmp_path) == {"systemd/penstock.properties": "node.id=7\n"}
    told = capsys.readouterr().err
    assert str(changed) in told
    assert "--force" in told


def test_changed_file_is_replaced_when_that_is_asked_for(tmp_path: Path) -> None:
    changed = tmp_path / "systemd" / "penstock.properties"
    changed.parent.mkdir()
    changed.write_bytes(b"\xff")

    assert generate("systemd", "--output", str(tmp_path), "--force") == 0
    assert files_in(tmp_path) == KINDS["systemd"](Plan())


def test_directory_that_cannot_be_made_is_named(tmp_path: Path, capsys: Captured) -> None:
    (tmp_path / "taken").write_text("")

    assert generate("systemd", "--output", str(tmp_path / "taken")) == 1
    assert f"{tmp_path / 'taken'} cannot be written" in capsys.readouterr().err


@pytest.mark.parametrize("nodes", ["0", "65", "three"])
def test_number_of_brokers_has_limits(nodes: str, tmp_path: Path) -> None:
    assert generate("compose", "--nodes", nodes, "--output", str(tmp_path)) == 2
    assert not files_in(tmp_path)


def test_number_of_brokers_reaches_every_kind(tmp_path: Path) -> None:
    generate("all", "--nodes", "5", "--output", str(tmp_path))

    services = yaml.safe_load((tmp_path / "compose" / "cluster.yaml").read_text())["services"]
    stateful_set = yaml.safe_load((tmp_path / "kubernetes" / "statefulset.yaml").read_text())
    values = yaml.safe_load((tmp_path / "helm" / "penstock" / "values.yaml").read_text())
    (targets,) = yaml.safe_load((tmp_path / "prometheus" / "targets.yml").read_text())
    assert {"broker-5"} <= services.keys()
    assert stateful_set["spec"]["replicas"] == values["replicas"] == len(targets["targets"]) == 5


@pytest.mark.parametrize(("nodes", "factor", "in_sync"), [(1, 1, 1), (2, 2, 1), (3, 3, 2), (9, 3, 2)])
def test_copies_follow_the_number_of_brokers(nodes: int, factor: int, in_sync: int) -> None:
    plan = Plan(nodes=nodes)
    assert (plan.replication_factor, plan.min_insync_replicas) == (factor, in_sync)
