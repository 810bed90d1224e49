"""Metrics that clients push (KIP-714): who is asked for what, what they said, and how the page shows it.

Read ``telemetry`` (what the two APIs do) first; then ``subscriptions`` (who is asked for what), ``client``
(what is known of one), ``otlp`` and ``protobuf`` (what a push says), ``client_series`` (what the page shows).
"""
