"""A cluster of Raft nodes in one process: a network that loses and reorders, disks that forget, clocks that
drift.

The nodes are ``penstock.raft`` unchanged; what drives them here is as small as it can be. A seed draws a plan
(``drawing``), the plan is done (``world``), every step is checked (``invariants``), and bugs can be planted
to see whether that would notice (``bugs``).
"""
