"""The web console: pages as static files, and the JSON behind each."""
