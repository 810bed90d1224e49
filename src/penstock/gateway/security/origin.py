"""What pages of other origins may have a browser do here: nothing but open a page of ours.

Browsers say where a request comes from (``Origin``, ``Sec-Fetch-Site``); programs say nothing, and prove by
their token who they are. Whatever changes something carries JSON, which no form can send.
"""

from collections.abc import Mapping

from penstock.gateway.errors import GatewayError

SAFE_METHODS = frozenset({"GET", "HEAD", "OPTIONS"})
_OWN_SITES = frozenset({"same-origin", "none"})


def check_origin(method: str, headers: Mapping[str, str], *, scheme: str) -> None:
    """Refuse with 403 what a page of another origin asks for.

    A page of ours may have come by TLS, which something in front of us speaks and we do not see: its name
    and port are ours all the same.
    """
    site = headers.get("sec-fetch-site")
    origin = headers.get("origin")
    is_own_site = site is None or site in _OWN_SITES
    host = headers.get("host", "")
    is_own_origin = origin is None or origin in (f"{scheme}://{host}", f"https://{host}")
    if is_own_site and is_own_origin:
        return
    if method == "GET" and origin is None and headers.get("sec-fetch-mode") == "navigate":
        return  # A link from elsewhere that somebody followed.
    raise GatewayError(403, "Pages of other origins may not use this gateway.", error_code=40301)


def check_content_type(method: str, headers: Mapping[str, str]) -> None:
    """Refuse with 415 a body that is not JSON."""
    if method in SAFE_METHODS or not has_body(headers):
        return
    kind = headers.get("content-type", "").partition(";")[0].strip().lower()
    if kind != "application/json" and not (kind.startswith("application/") and kind.endswith("+json")):
        raise GatewayError(
            415,
            f"Send JSON, with Content-Type: application/json; {kind[:100]!r} is not taken.",
            error_code=415,
        )


def has_body(headers: Mapping[str, str]) -> bool:
    """Whether a body follows."""
    return "transfer-encoding" in headers or headers.get("content-length", "0") != "0"
