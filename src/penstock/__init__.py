"""Penstock: a distributed log-based message queue that speaks Kafka's protocol."""

__version__ = "0.1.0"
