"""``penstock topic``: topics, their partitions and settings."""
