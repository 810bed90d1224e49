"""Looking after topics, settings, groups and records."""
