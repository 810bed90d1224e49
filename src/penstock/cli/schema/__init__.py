"""``penstock schema``: a schema registry from the command line, ours or any other of that API."""
