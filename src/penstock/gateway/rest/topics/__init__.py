"""Topics over REST: made, looked at, changed, deleted."""
