"""Whole brokers, unchanged, in a world of faults: what happens follows from a plan, and the plan from a seed.

``plan`` and ``drawing`` say what will happen; ``node`` is a machine with a broker, ``client_process`` one
with a workload; ``cluster`` lets the plan happen, heals the world, demands progress and asks the checkers;
``bugs`` plants known mistakes; ``shortening`` finds out which parts of a failing plan matter.
"""
