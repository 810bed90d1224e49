"""Records over REST: produced, read with a cursor, streamed as events."""
