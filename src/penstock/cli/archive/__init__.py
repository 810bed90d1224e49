"""``penstock archive``: topics kept as Parquet files on Spark, merged, listed and replayed."""
