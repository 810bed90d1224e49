"""``penstock consume``: records out of a topic."""
