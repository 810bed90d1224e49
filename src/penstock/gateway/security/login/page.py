"""The page that asks for the token, with all that belongs to it, in memory: no path is ever looked up."""

from functools import cache
from importlib.resources import files

from starlette.responses import Response

LOGIN = "/login"
SCRIPT = "/login/login.js"
STYLE = "/login/login.css"
LOGIN_PATHS = frozenset({LOGIN, SCRIPT, STYLE})


@cache
def _file(name: str) -> bytes:
    return files(__package__).joinpath(name).read_bytes()


def login_page(*, status: int = 200) -> Response:
    """The page; it stands in for any page that was asked for without the token."""
    return Response(_file("login.html"), status_code=status, media_type="text/html")


def login_script() -> Response:
    """What it does."""
    return Response(_file("login.js"), media_type="text/javascript")


def login_style() -> Response:
    """How it looks."""
    return Response(_file("login.css"), media_type="text/css")
