"""A program that answers as a Java of some version would, for those that are not on this machine."""

from pathlib import Path

_SCRIPT = """\
#!/bin/sh
{refusal}
exec >&2
echo 'Property settings:'
echo '    file.encoding = UTF-8'
echo '    java.home = {home}'
echo '    java.runtime.version = {full}'
echo '    java.specification.version = {specification}'
echo
echo 'openjdk version "{full}" 2025-04-15'
"""
_REFUSAL = """\
case "$*" in *--add-modules*) echo 'Error occurred during initialization of boot layer' >&2; exit 1;; esac
"""


def write_java(home: Path, *, specification: str, full: str = "", has_vector_module: bool = True) -> Path:
    """Put one there; ``specification`` is ``1.8``, ``17``, ..."""
    refusal = "" if has_vector_module else _REFUSAL
    text = _SCRIPT.format(refusal=refusal, home=home, specification=specification, full=full or specification)
    return write_program(home / "bin" / "java", text)


def write_program(path: Path, text: str) -> Path:
    """Put any script there."""
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(text)
    path.chmod(0o755)
    return path
