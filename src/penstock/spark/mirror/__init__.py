"""Mirroring: topics of one cluster copied to another, record by record, and their consumer groups with them.

``mirroring`` is the door. A stateless stream carries records (``batches``, ``headers``); the driver keeps
topics (``topic_sync``) and groups (``group_sync``) in step; ``offset_map`` remembers which offset there is
which offset here, by the arithmetic of ``sync_points``. docs/mirroring.md tells how it is used.
"""
