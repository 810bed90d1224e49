"""How connections are kept from being read and altered, and how a client proves who it is."""
