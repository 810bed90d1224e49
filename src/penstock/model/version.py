"""The version of Penstock, where every floor of the house can see it."""

__version__ = "0.1.0"
