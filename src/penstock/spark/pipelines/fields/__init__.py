"""Tables of keys: what may stand in a pipeline file, what each value must look like, and what it means.

``field`` is a line of such a table, ``kinds`` what values may be, ``reading`` turns a part of a document into
typed values by a table and notes what does not fit. Steps declare their options with the same tables, and the
documentation prints them.
"""
