"""Settings of clients: frozen dataclasses that refuse what makes no sense when they are made."""
