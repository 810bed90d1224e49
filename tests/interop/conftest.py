"""Third-party clients that warn when imported are imported here first, where that does not fail a test."""

import warnings

with warnings.catch_warnings():
    # kafka-python reads its message definitions by a function that Python deprecates.
    warnings.simplefilter("ignore", DeprecationWarning)
    import kafka  # noqa: F401
