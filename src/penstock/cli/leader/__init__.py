"""``penstock leader``: elect leaders of partitions."""
