"""What tests of the testing kit share."""

import warnings

with warnings.catch_warnings():
    # It reads its message definitions in a way that Python 3.11 frowns upon.
    warnings.simplefilter("ignore", DeprecationWarning)
    import kafka  # noqa: F401
