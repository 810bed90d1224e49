"""``penstock cluster``: run a cluster on this machine, or look at any."""
