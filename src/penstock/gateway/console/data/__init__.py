"""The JSON behind every page of the console: one module for each noun, plain functions over the cluster.

What a cluster cannot tell is null, and why is a sentence in ``notes``: a page shows it as "not told".
"""
