"""Nothing grows unnoticed: files over 400 lines and functions over 60 are looked at, and may only shrink."""

import ast

import pytest
from tests.meta.source_tree import Module, module_of, modules

FILE_LINES_MAX = 400
FUNCTION_LINES_MAX = 60

LONG_FILES: dict[str, int] = {}
LONG_FUNCTIONS: dict[str, int] = {}
"""Those that were longer when somebody last looked, with their length then. Take out what has been mended."""


def file_lines(module: Module) -> int:
    return len(module.text.splitlines())


def function_lines(module: Module) -> dict[str, int]:
    """Code lines of every function: its docstring does not count, nested functions do."""
    found = {}
    for node in ast.walk(module.tree):
        if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef):
            body = node.body[1:] if ast.get_docstring(node) is not None and len(node.body) > 1 else node.body
            end = body[-1].end_lineno
            assert end is not None
            found[f"{module.name}::{node.name}"] = end - body[0].lineno + 1
    return found


def too_long(lengths: dict[str, int], known: dict[str, int], limit: int) -> dict[str, int]:
    return {name: length for name, length in lengths.items() if length > known.get(name, limit)}


def test_no_file_is_longer_than_it_may_be() -> None:
    lengths = {module.name: file_lines(module) for module in modules()}
    assert not too_long(lengths, LONG_FILES, FILE_LINES_MAX), "split it by nouns"


def test_no_function_is_longer_than_it_may_be() -> None:
    lengths = {name: length for module in modules() for name, length in function_lines(module).items()}
    assert not too_long(lengths, LONG_FUNCTIONS, FUNCTION_LINES_MAX), "let it say what, and others how"


def test_known_offenders_still_offend() -> None:
    files = {module.name: file_lines(module) for module in modules()}
    functions = {name: length for module in modules() for name, length in function_lines(module).items()}
    mended = [name for name in LONG_FILES if files.get(name, 0) <= FILE_LINES_MAX]
    mended += [name for name in LONG_FUNCTIONS if functions.get(name, 0) <= FUNCTION_LINES_MAX]
    assert not mended, "mended: take them off the lists"


def test_every_module_says_what_it_is() -> None:
    assert not [module.name for module in modules() if not ast.get_docstring(module.tree)]


@pytest.mark.parametrize(("lines", "is_too_long"), [(60, False), (61, True)])
def test_length_of_a_function_is_measured_without_its_docstring(lines: int, is_too_long: bool) -> None:
    body = "\n".join(f"    x = {number}" for number in range(lines))
    module = module_of(f'def f():\n    """Docs.\n\n    More.\n    """\n{body}\n')
    assert bool(too_long(function_lines(module), {}, FUNCTION_LINES_MAX)) is is_too_long
