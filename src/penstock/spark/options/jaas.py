"""Name and password out of a line of JAAS, as Java's clients of Kafka want them.

``org.apache.kafka.common.security.scram.ScramLoginModule required username="anna" password="...";``. Values
stand between quotes, where a backslash takes the next sign as it is. Messages never repeat what the line has.
"""

import re

from penstock.model.errors import UsageError
from penstock.wire_client.security.security import Login, Mechanism

_LINE = re.compile(r"\s*(?P<module>[\w.$]+)\s+(?P<flag>\w+)(?P<options>.*?)\s*;\s*", re.DOTALL)
_OPTION = re.compile(
    r"""\s+(?P<name>[\w.]+)\s*=\s*(?:"(?P<double>(?:\\.|[^"\\])*)"|'(?P<single>(?:\\.|[^'\\])*)'|(?P<bare>[^\s"';]+))""",
    re.DOTALL,
)
_MECHANISMS = {
    "PlainLoginModule": (Mechanism.PLAIN,),
    "ScramLoginModule": (Mechanism.SCRAM_SHA_256, Mechanism.SCRAM_SHA_512),
}


class JaasError(UsageError):
    """A line that cannot be used; the message completes the sentence "The line ..."."""


def parse_jaas(text: str, mechanism: Mechanism) -> Login:
    """Who logs in, by a module that fits the mechanism."""
    match = _LINE.fullmatch(text)
    if match is None:
        raise JaasError(
            'is not of the form ...ScramLoginModule required username="..." password="..."; with a semicolon'
        )
    _check_module(match["module"].rpartition(".")[2], mechanism)
    options = _options(match["options"])
    if options.get("tokenauth", "").lower() == "true":
        raise JaasError("asks for a delegation token, and only passwords are used here")
    missing = [name for name in ("username", "password") if name not in options]
    if missing:
        raise JaasError(f"has no {' and no '.join(missing)}")
    return Login(mechanism=mechanism, username=options["username"], password=options["password"])


def _check_module(module: str, mechanism: Mechanism) -> None:
    if module not in _MECHANISMS:
        raise JaasError(f"names the module {module}, and only {' and '.join(_MECHANISMS)} are known here")
    if mechanism not in _MECHANISMS[module]:
        raise JaasError(f"names the module {module}, which is not for kafka.sasl.mechanism={mechanism}")


def _options(text: str) -> dict[str, str]:
    options: dict[str, str] = {}
    at = 0
    while at < len(text):
        match = _OPTION.match(text, at)
        if match is None:
            raise JaasError('has something among its options that is not name="value"')
        options[match["name"]] = _value(match)
        at = match.end()
    return options


def _value(match: re.Match[str]) -> str:
    quoted = match["double"] if match["double"] is not None else match["single"]
    return match["bare"] if quoted is None else re.sub(r"\\(.)", r"\1", quoted, flags=re.DOTALL)
