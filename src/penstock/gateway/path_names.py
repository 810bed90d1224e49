"""Names in paths: of groups, transactional ids and subjects, which may hold any sign, a slash as well.

A server decodes a path before it looks for a route, and a slash of a name (``%2F``) is then like one between
two parts. So routes are looked for in the path as it was sent, and a name is decoded when it has been found.
The guard writes every path alike first, since ``/%74opics`` means ``/topics``.
"""

from urllib.parse import quote, unquote

from starlette.convertors import Convertor, register_url_convertor


class PathName(Convertor[str]):
    """One part of a path: ``{group:name}``."""

    regex = "[^/]+"

    def convert(self, value: str) -> str:
        """The name that a part stands for."""
        return unquote(value)

    def to_string(self, value: str) -> str:
        """The part that stands for a name."""
        return quote(value, safe="")


class PathNameWithSlashes(PathName):
    """The same where slashes may also come as they are: ``{subject:slashed_name}``.

    Files of Protobuf are called like that, and clients of registries have always sent both.
    """

    regex = ".*"


def register_path_names() -> None:
    """Have routes know both; before any is made."""
    register_url_convertor("name", PathName())
    register_url_convertor("slashed_name", PathNameWithSlashes())


def encoded_path(raw_path: bytes) -> str:
    """A path as it was sent, with everything encoded that can be, but for the slashes between its parts."""
    parts = raw_path.decode("ascii", "replace").split("/")
    return "/".join(quote(unquote(part), safe="") for part in parts)
