"""Sending records: deliveries as futures, the thread that settles them, transactions, metrics."""
