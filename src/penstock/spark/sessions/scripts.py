"""Small shell scripts that stand between Spark and a program, kept in the cache directory."""

import hashlib
import os
import shlex
from pathlib import Path

from penstock.spark.sessions.java import VECTOR_MODULE

_WORKER_PYTHON = """\
#!/bin/sh
# Python for Spark's workers. Spark puts packed copies of pyspark and py4j in front of those that are
# installed; packed modules are compiled anew by every process, which costs each most of a second.
set -f
kept=
IFS=:
for entry in $PYTHONPATH; do
    case $entry in
        */pyspark.zip | */py4j-*-src.zip) ;;
        *) kept=${{kept:+$kept:}}$entry ;;
    esac
done
unset IFS
if [ -n "$kept" ]; then export PYTHONPATH="$kept"; else unset PYTHONPATH; fi
exec {program} "$@"
"""

_JAVA = """\
#!/bin/sh
# Java for Spark, made of chosen modules: Spark asks for one that is not there, and can do without.
for argument do
    shift
    [ "$argument" = --add-modules={module} ] || set -- "$@" "$argument"
done
exec {program} "$@"
"""


def worker_python(program: str, directory: Path) -> Path | None:
    """A script that runs ``program`` as Spark's workers should; None if scripts cannot run there."""
    text = _WORKER_PYTHON.format(program=shlex.quote(program))
    return _write(directory / f"python-{_digest(text)}", text)


def java_home(program: Path, directory: Path) -> Path | None:
    """What JAVA_HOME may name instead of the home of a Java without the vector module."""
    text = _JAVA.format(program=shlex.quote(str(program)), module=VECTOR_MODULE)
    home = directory / f"java-{_digest(text)}"
    return None if _write(home / "bin" / "java", text) is None else home


def _digest(text: str) -> str:
    return hashlib.sha256(text.encode()).hexdigest()[:12]


def _write(path: Path, text: str) -> Path | None:
    """Put it there whole, in one step: other processes may be running it."""
    if not path.exists() or path.read_text() != text:
        path.parent.mkdir(mode=0o700, parents=True, exist_ok=True)
        draft = path.with_name(f".{path.name}.{os.getpid()}")
        draft.write_text(text)
        draft.chmod(0o700)
        draft.replace(path)
    return path if os.access(path, os.X_OK) else None
