"""The ``penstock`` command: entry point, and the fork between the broker and everything else.

``penstock serve`` must be ready half a second after its process began and stay small. Typer, with what it
loads, costs 0.2 s and 22 MB before a single option is read. So ``serve`` reads its options with ``argparse``
and never sees Typer; all other commands hang in the tree of ``penstock.cli.tree``.
"""

import sys
from collections.abc import Sequence

from penstock.cli.failure import ExitCode, report
from penstock.model.errors import PenstockError


def main(arguments: Sequence[str] | None = None) -> None:
    """Run the command line and exit with a stable code."""
    words = list(sys.argv[1:] if arguments is None else arguments)
    try:
        if words[:1] == ["serve"]:
            _serve(words[1:])
        elif words[:1] == ["__complete"]:
            _complete(words[1:])
        else:
            _run_in_tree(words)
    except PenstockError as error:
        sys.exit(report(error))
    except KeyboardInterrupt:
        sys.exit(ExitCode.INTERRUPTED)
    finally:
        _flush_quietly()


def _flush_quietly() -> None:
    """A reader that has had enough, as ``head`` has, is no reason to complain when all is over."""
    try:
        sys.stdout.flush()
    except BrokenPipeError:
        from penstock.cli.output import discard_output

        discard_output()


def _serve(words: list[str]) -> None:
    from penstock.cli.serve import serve

    sys.exit(serve(words))


def _complete(words: list[str]) -> None:
    from penstock.cli.completion.candidates import print_candidates

    try:
        print_candidates(words)
    except BrokenPipeError:
        sys.exit(ExitCode.FAILED)
    sys.exit(ExitCode.OK)


def _run_in_tree(words: list[str]) -> None:
    from penstock.cli.tree import build_app

    build_app(words)(words, prog_name="penstock")
