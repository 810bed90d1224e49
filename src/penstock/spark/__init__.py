"""Topics as tables of Spark: the data source, and the pipelines made of it. Only here pyspark is imported."""
