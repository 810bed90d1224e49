"""``penstock logs``: what the brokers of a cluster have to say, found and followed."""
