"""From the text of a pipeline file to a ``Pipeline``: by the tables of fields, noting every mistake with its
place.

``context`` is what all readers share, ``steps`` reads uses of steps, ``queries`` what flows and views are
made of, ``parts`` sources, sinks and the like, ``pipeline`` the whole. What one part says of another is not
looked at here; that is ``validation``.
"""
