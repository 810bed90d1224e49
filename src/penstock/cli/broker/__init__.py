"""``penstock broker``: list, describe and decommission brokers."""
