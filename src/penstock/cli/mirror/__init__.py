"""``penstock mirror``: topics and groups of one cluster kept in another, on Spark."""
