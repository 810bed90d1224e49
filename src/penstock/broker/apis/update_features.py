"""UpdateFeatures (key 57): the cluster agrees on other levels of features (KIP-584).

Versions 0 to 2.

Behaviour
    - All levels change, or none does. A level that some broker cannot live with, or the wrong direction, is
      INVALID_UPDATE_VERSION; a feature given twice is INVALID_REQUEST.
    - validate_only checks everything and changes nothing.

Version notes
    1 kinds of change, dry runs; 2 one outcome for all (KIP-1022).
"""

from functools import partial
from typing import TYPE_CHECKING

from penstock.metadata.features import update_features
from penstock.model.errors import ApiError
from penstock.wire.framing import RequestHeader
from penstock.wire.messages.update_features import UpdateFeaturesRequest, UpdateFeaturesResponse

if TYPE_CHECKING:
    from penstock.broker.broker import Broker


async def handle(
    broker: "Broker", request: UpdateFeaturesRequest, header: RequestHeader
) -> UpdateFeaturesResponse:
    """Have the controller decide, and answer when its decision is in force."""
    decide = partial(update_features, request=request, version=header.api_version)
    try:
        return await broker.control.decide_or_forward(request, header, decide)
    except ApiError as error:
        return UpdateFeaturesResponse(error_code=error.code, error_message=error.message)
