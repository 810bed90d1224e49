"""How a Spark begins: its Java, its Python, its settings, and the first look at a topic.

``session.py`` has the function that people call, and reads like a summary of the rest; ``java.py`` is also
used by ``penstock doctor`` and imports no pyspark. What was chosen is told by ``explanation.py``.
"""
