"""Hands the page of metrics to whoever asks: over HTTP, by default on this machine alone, or as a file."""

import threading
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path

from penstock.model.errors import OperatingError
from penstock.spark.pipelines.reporting.prometheus import CONTENT_TYPE, MetricsPage
from penstock.spark.pipelines.running.events import Event

LOOPBACK = "127.0.0.1"
PATH = "/metrics"
FILE_SECONDS = 5.0
"""How often the file is written, while something happens."""


@contextmanager
def serving_metrics(page: MetricsPage, *, host: str, port: int) -> Iterator[int]:
    """Serve the page for as long as it goes on; the port, which is chosen here if it is 0."""
    try:
        server = ThreadingHTTPServer((host, port), _handler(page))
    except OSError as error:
        raise OperatingError(f"Metrics cannot be served at {host}:{port}: {error.strerror}.") from error
    thread = threading.Thread(target=server.serve_forever, name="penstock-pipeline-metrics", daemon=True)
    thread.start()
    try:
        yield int(server.server_address[1])
    finally:
        server.shutdown()
        server.server_close()
        thread.join()


class MetricsFile:
    """The page as a file; a listener of runs.

    It can be written when this is made. If it cannot be later, that is said once, and the run goes on.
    """

    def __init__(self, page: MetricsPage, path: Path, *, warn: Callable[[str], None]) -> None:
        self._page = page
        self._path = path
        self._warn = warn
        self._is_told = False
        try:
            write_metrics(page, path)
        except OSError as error:
            raise OperatingError(_unwritten(path, error)) from error
        self._due = 0.0

    def __call__(self, event: Event) -> None:
        """Write it, unless it was just written."""
        if time.monotonic() >= self._due:
            self.write()
            self._due = time.monotonic() + FILE_SECONDS

    def write(self) -> None:
        """Write it now."""
        try:
            write_metrics(self._page, self._path)
        except OSError as error:
            if not self._is_told:
                self._warn(_unwritten(self._path, error))
            self._is_told = True


def _unwritten(path: Path, error: OSError) -> str:
    return f"Metrics cannot be written to {path}: {error.strerror}."


def write_metrics(page: MetricsPage, path: Path) -> None:
    """Replace a file that a collector reads, in one go."""
    fresh = path.with_name(f"{path.name}.new")
    fresh.write_text(page.text(now_ms=_now_ms()))
    fresh.replace(path)


def _handler(page: MetricsPage) -> type[BaseHTTPRequestHandler]:
    class Handler(BaseHTTPRequestHandler):
        """Answers GET of one path."""

        def do_GET(self) -> None:
            """Send the page."""
            if self.path.partition("?")[0] not in (PATH, "/"):
                self.send_error(404, f"Only {PATH} is here")
                return
            body = page.text(now_ms=_now_ms()).encode()
            self.send_response(200)
            self.send_header("Content-Type", CONTENT_TYPE)
            self.send_header("Content-Length", str(len(body)))
            self.end_headers()
            self.wfile.write(body)

        def log_message(self, format: str, *args: object) -> None:
            """Nobody wants to read that somebody looks at metrics."""

    return Handler


def _now_ms() -> int:
    return time.time_ns() // 1_000_000
