"""``penstock search``: records found by all cores of a Spark."""
