"""Machines that keep the replicas of a partition in agreement. No I/O: events in, effects out."""
