import os
import subprocess
from pathlib import Path

from tests.spark.sessions.fake_java import write_program

from penstock.spark.sessions.scripts import java_home, worker_python

SHOW = '#!/bin/sh\necho "path=${PYTHONPATH-none}"\nfor each do echo "[$each]"; done\n'


def run(script: Path, *arguments: str, python_path: str | None = None) -> list[str]:
    environment = {"PATH": os.environ["PATH"]} | ({} if python_path is None else {"PYTHONPATH": python_path})
    done = subprocess.run([script, *arguments], env=environment, capture_output=True, text=True, check=True)
    return done.stdout.splitlines()


def test_worker_python_leaves_out_packed_copies_and_nothing_else(tmp_path: Path) -> None:
    program = write_program(tmp_path / "a place's bin" / "python", SHOW)
    script = worker_python(str(program), tmp_path)
    assert script is not None

    path = "/spark/python/lib/pyspark.zip:/own/*:/spark/python/lib/py4j-0.10.9.9-src.zip:/other place"
    assert run(script, "-m", "two words", python_path=path) == [
        "path=/own/*:/other place",
        "[-m]",
        "[two words]",
    ]
    assert run(script, python_path="/x/pyspark.zip") == ["path=none"]
    assert run(script) == ["path=none"]


def test_java_of_chosen_modules_is_not_asked_for_the_one_it_lacks(tmp_path: Path) -> None:
    program = write_program(tmp_path / "jdk's" / "bin" / "java", SHOW)
    home = java_home(program, tmp_path)
    assert home is not None

    said = run(home / "bin" / "java", "-Xmx1g", "--add-modules=jdk.incubator.vector", "-cp", "a b:c", "Main")

    assert said[1:] == ["[-Xmx1g]", "[-cp]", "[a b:c]", "[Main]"]


def test_scripts_are_written_once_and_mended_when_damaged(tmp_path: Path) -> None:
    first = worker_python("/usr/bin/python3", tmp_path)
    assert first is not None
    before = first.stat().st_mtime_ns
    assert worker_python("/usr/bin/python3", tmp_path) == first
    assert first.stat().st_mtime_ns == before

    whole = first.read_text()
    first.write_text("#!/bin/sh\n")
    worker_python("/usr/bin/python3", tmp_path)

    assert first.read_text() == whole
    assert [path.name for path in tmp_path.iterdir()] == [first.name]
    assert worker_python("/opt/python", tmp_path) != first
