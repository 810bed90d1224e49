"""``penstock produce``: records into a topic."""
