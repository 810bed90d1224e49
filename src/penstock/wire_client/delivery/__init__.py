"""Producing: record batches to the leaders of their partitions, each exactly once and in order.

``Outbox`` is a machine without sockets: what waits, what is under way, what an answer means. ``Delivery``
drives it over connections. Batches arrive here encoded, with their producer and sequences in them.
"""
