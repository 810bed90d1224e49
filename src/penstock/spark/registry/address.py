"""Where a registry is and how to be let in; small, comparable and picklable, since every task gets one."""

from dataclasses import dataclass, field
from urllib.parse import unquote, urlsplit, urlunsplit

from penstock.model.errors import UsageError

TIMEOUT_SECONDS = 10.0
ATTEMPTS = 4


@dataclass(frozen=True, slots=True, kw_only=True)
class Registry:
    """One registry. ``url`` may name several servers of it, separated by commas.

    ``basic_auth`` is ``user:password``; it may stand in the url instead. Secrets are left out of the text of
    this object, and of every error.
    """

    url: str
    basic_auth: str | None = field(default=None, repr=False)
    bearer_token: str | None = field(default=None, repr=False)
    ca_file: str | None = None
    certificate_file: str | None = None
    key_file: str | None = None
    timeout_seconds: float = TIMEOUT_SECONDS
    attempts: int = ATTEMPTS

    def __post_init__(self) -> None:
        if self.basic_auth is not None and self.bearer_token is not None:
            raise UsageError("A registry is entered with basic_auth or with bearer_token, not with both.")
        for server in self.servers():
            _check_server(server)

    def __repr__(self) -> str:
        return f"Registry({', '.join(self.servers())})"

    def servers(self) -> tuple[str, ...]:
        """The addresses to try in turn, without anybody's password."""
        return tuple(_without_user(server.strip()) for server in self.url.split(","))

    def user_and_password(self) -> str | None:
        """For basic authentication, from the setting or from the url."""
        if self.basic_auth is not None:
            return self.basic_auth
        parts = urlsplit(self.url.split(",")[0])
        if parts.username is None:
            return None
        return f"{unquote(parts.username)}:{unquote(parts.password or '')}"


def _without_user(server: str) -> str:
    parts = urlsplit(server)
    return urlunsplit(parts._replace(netloc=parts.netloc.rpartition("@")[2])).rstrip("/")


def _check_server(server: str) -> None:
    # urllib would open files and FTP servers too.
    parts = urlsplit(server)
    if parts.scheme not in ("http", "https") or not parts.netloc:
        raise UsageError(f"The address of a registry is like http://host:8081, not {server!r}.")
