"""Simulated worlds in which Penstock runs unchanged, is hurt on purpose, and is checked.

Everything a run does follows from its seed: the plan of what happens is drawn as data before the run, so that
it can be printed, stored and replayed. ``python -m penstock.sim`` is the door.
"""
