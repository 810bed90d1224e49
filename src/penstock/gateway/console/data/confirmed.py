"""What cannot be undone is only done by whoever repeats the name of what it is done to."""

from pydantic import BaseModel, Field

from penstock.gateway.errors import GatewayError


class Confirmed(BaseModel):
    """The body of such a request."""

    confirm: str = Field(description="The name of what is to go, once more.")


def check_confirmed(body: Confirmed, name: str, *, doing: str) -> None:
    """Refuse unless the name was repeated exactly."""
    if body.confirm != name:
        raise GatewayError(422, f"To {doing}, set confirm to {name!r}, not to {body.confirm!r}.")
