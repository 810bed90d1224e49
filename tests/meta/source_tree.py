"""The project's own files, as the house rules look at them."""

import ast
import subprocess
from collections.abc import Iterator
from dataclasses import dataclass
from functools import cache
from pathlib import Path

ROOT = Path(__file__).parents[2]
PACKAGE = ROOT / "src" / "penstock"

BUILTINS = frozenset({"eval", "exec", "compile", "__import__", "print", "input", "breakpoint"})


@dataclass(frozen=True, slots=True, kw_only=True)
class Module:
    """One source file and its tree."""

    path: Path
    name: str
    """Relative to the package, with slashes: ``broker/clock.py``."""

    text: str
    tree: ast.Module


@cache
def modules() -> tuple[Module, ...]:
    """Every module of the package, in a fixed order."""
    return tuple(read_module(path) for path in sorted(PACKAGE.rglob("*.py")))


def read_module(path: Path) -> Module:
    """Parse one file."""
    text = path.read_text()
    return Module(
        path=path,
        name=path.relative_to(PACKAGE).as_posix(),
        text=text,
        tree=ast.parse(text, filename=str(path)),
    )


def module_of(text: str, *, name: str = "example.py") -> Module:
    """A module that exists only in a test."""
    return Module(path=Path(name), name=name, text=text, tree=ast.parse(text))


@cache
def references(module: Module) -> tuple[tuple[int, str], ...]:
    """Line and full dotted name of everything that a module refers to, seen through its imports."""
    return tuple(_references(module))


def _references(module: Module) -> Iterator[tuple[int, str]]:
    imported = _imported_names(module.tree)
    for node in ast.walk(module.tree):
        if isinstance(node, ast.Name | ast.Attribute):
            name = _dotted(node, imported)
            if name is not None:
                yield node.lineno, name
        elif isinstance(node, ast.ImportFrom) and node.module is not None:
            for alias in node.names:
                yield node.lineno, f"{node.module}.{alias.name}"
        elif isinstance(node, ast.Import):
            for alias in node.names:
                yield node.lineno, alias.name


def _imported_names(tree: ast.Module) -> dict[str, str]:
    names = {name: f"builtins.{name}" for name in BUILTINS}
    for node in ast.walk(tree):
        if isinstance(node, ast.Import):
            for alias in node.names:
                first = alias.name.split(".")[0]
                names[alias.asname or first] = alias.name if alias.asname else first
        elif isinstance(node, ast.ImportFrom) and node.module is not None:
            for alias in node.names:
                names[alias.asname or alias.name] = f"{node.module}.{alias.name}"
    return names


def _dotted(node: ast.expr, imported: dict[str, str]) -> str | None:
    parts: list[str] = []
    while isinstance(node, ast.Attribute):
        parts.append(node.attr)
        node = node.value
    if not isinstance(node, ast.Name) or node.id not in imported:
        return None
    return ".".join([imported[node.id], *reversed(parts)])


@cache
def tracked_files() -> tuple[Path, ...]:
    """What is or would be committed."""
    command = ["git", "ls-files", "--cached", "--others", "--exclude-standard"]
    listed = subprocess.run(command, cwd=ROOT, capture_output=True, text=True, check=False)
    if listed.returncode != 0:  # Not a checkout: an unpacked source archive.
        return tuple(
            sorted(path for path in ROOT.rglob("*.*") if ".venv" not in path.parts and path.is_file())
        )
    return tuple(sorted(ROOT / line for line in listed.stdout.splitlines() if (ROOT / line).is_file()))
