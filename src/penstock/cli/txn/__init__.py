"""``penstock txn``: transactions, and the ends that some of them need."""
