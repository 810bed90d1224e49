"""Pipelines that run somewhere, as far as they tell: from their topic of progress, without Spark."""
