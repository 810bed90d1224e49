"""``penstock storage``: what lies in logs, in numbers, and whether it is whole."""
