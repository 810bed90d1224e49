"""The same clients for programs with an event loop, which they never block."""
