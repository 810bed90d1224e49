"""``penstock pipeline``: pipelines on Spark, from a first file to a process that runs for months."""
