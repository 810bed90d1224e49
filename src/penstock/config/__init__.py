"""Settings: what can be set, what it may be, and where a value came from.

Start at ``broker_keys`` and ``topic_keys`` (the two tables), then ``sources`` (files, environment, flags).
Importing this package costs nothing heavy: YAML is loaded only when a YAML file is read.
"""
