"""``penstock client``: what clients tell brokers of themselves, read from the brokers' pages of metrics."""
