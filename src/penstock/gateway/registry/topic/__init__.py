"""The topic ``_schemas``, in which everything is kept: its records, how it is read, and how it is written."""
