"""``penstock bench``: measure any broker."""
