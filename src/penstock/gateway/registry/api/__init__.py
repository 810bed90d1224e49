"""The REST API, a module for each kind of thing: paths, parameters and JSON. Decisions are made elsewhere."""
