"""Who gets in, and what browsers may do: the token, Host and Origin, headers, bounds."""
