"""Logging in with a browser: a page that asks for the token, and the cookie it is exchanged for."""
