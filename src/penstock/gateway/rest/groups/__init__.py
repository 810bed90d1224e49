"""Consumer groups over REST: who is in them, how far they are, and moving them."""
