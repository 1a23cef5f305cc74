"""The server at the socket of a store, which the base install can run."""
