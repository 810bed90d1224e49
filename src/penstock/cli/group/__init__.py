"""``penstock group``: consumer groups and their offsets."""
