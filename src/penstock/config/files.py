"""Settings files: YAML, JSON and Java properties, each flattened to dotted names and text.

Nested maps are joined by dots, lists by commas. Values stay text until the table of settings parses them,
so that ``no`` and ``1e3`` mean in a YAML file what they mean on the command line. A name given twice is an
error: silently taking one of the two would be wrong half of the time.
"""

import os
import stat
from collections.abc import Callable, Hashable, Iterator
from pathlib import Path
from typing import TYPE_CHECKING, Any, TypeAlias

from penstock.config.definition import ConfigError
from penstock.config.names import normalise, unique
from penstock.config.properties import parse_properties

if TYPE_CHECKING:
    import yaml

Tree: TypeAlias = "dict[str, Tree] | list[Tree] | str | bool | None"

FILE_BYTES_MAX = 1024**2
_READABLE_BY_ALL = stat.S_IROTH


def read_config_file(path: Path) -> dict[str, str]:
    """The settings in a file; the name's ending says in which form."""
    parser = _PARSERS.get(path.suffix.lower())
    if parser is None:
        raise ConfigError(f"{path} must end in one of {', '.join(sorted(_PARSERS))}.")
    return _parsed(path, parser)


def read_properties_file(path: Path) -> dict[str, str]:
    """The settings in a file of Java properties, whatever its name ends in."""
    return _parsed(path, parse_properties)


def is_readable_by_all(path: Path) -> bool:
    """Whether every user of this machine may read the file."""
    return bool(os.stat(path).st_mode & _READABLE_BY_ALL)


def _parsed(path: Path, parser: Callable[[str], dict[str, str]]) -> dict[str, str]:
    try:
        return parser(_read(path))
    except ConfigError as error:
        raise ConfigError(f"{path}: {error}") from error


def _read(path: Path) -> str:
    try:
        data = path.read_bytes()
    except OSError as error:
        raise ConfigError(f"cannot be read: {error.strerror}.") from error
    if len(data) > FILE_BYTES_MAX:
        raise ConfigError(f"is {len(data)} bytes long, the limit is {FILE_BYTES_MAX}.")
    try:
        return data.decode()
    except UnicodeDecodeError as error:
        raise ConfigError("is not UTF-8 text.") from error


def parse_json(text: str) -> dict[str, str]:
    """Settings out of a JSON object."""
    import json

    try:
        tree = json.loads(text, object_pairs_hook=unique, parse_int=str, parse_float=str, parse_constant=str)
    except json.JSONDecodeError as error:
        raise ConfigError(f"is not JSON: {error}.") from error
    except RecursionError:
        raise ConfigError("is nested too deeply.") from None
    return _flat(tree)


def parse_yaml(text: str) -> dict[str, str]:
    """Settings out of a YAML mapping."""
    import yaml

    try:
        tree = _yaml_tree(text)
    except yaml.YAMLError as error:
        raise ConfigError(f"is not YAML: {error}.") from error
    except RecursionError:
        raise ConfigError("is nested too deeply.") from None
    return {} if tree is None else _flat(tree)


def _yaml_tree(text: str) -> Tree:
    loader = _yaml_loader()(text)
    try:
        tree: Tree = loader.get_single_data()
    finally:
        loader.dispose()
    return tree


def _yaml_loader() -> "type[yaml.BaseLoader]":
    import yaml

    class Loader(yaml.BaseLoader):
        """Every scalar is text, nothing is constructed, and no name may come twice."""

        def construct_mapping(self, node: yaml.MappingNode, deep: bool = False) -> dict[Hashable, Any]:
            pairs = [(self.construct_object(name, deep=True), value) for name, value in node.value]
            if any(not isinstance(name, str) for name, _ in pairs):
                raise ConfigError("every name must be text.")
            return dict(
                unique((name, self.construct_object(value, deep=True)) for name, value in pairs).items()
            )

    return Loader


def _flat(tree: Tree) -> dict[str, str]:
    if not isinstance(tree, dict):
        raise ConfigError("must hold settings by name.")
    return unique(_leaves(tree, ""))


def _leaves(tree: dict[str, Tree], prefix: str) -> Iterator[tuple[str, str]]:
    for part, value in tree.items():
        name = normalise(prefix + part)
        if isinstance(value, dict):
            yield from _leaves(value, f"{name}.")
        elif value is not None:
            yield name, _scalar(name, value)


def _scalar(name: str, value: Tree) -> str:
    if isinstance(value, bool):
        return "true" if value else "false"
    if isinstance(value, list):
        return ",".join(_scalar(name, item) for item in value)
    if not isinstance(value, str):
        raise ConfigError(f"{name} must be text, a number, a switch or a list of them.")
    return value


_PARSERS = {
    ".json": parse_json,
    ".properties": parse_properties,
    ".yaml": parse_yaml,
    ".yml": parse_yaml,
}
