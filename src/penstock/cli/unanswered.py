"""Why a question over HTTP got no answer, in words."""


def reason_of(error: Exception) -> str:
    """What the system says of it, without the number that it has there."""
    reason = getattr(error, "reason", None) or error
    return (getattr(reason, "strerror", None) or str(reason)).lower()
