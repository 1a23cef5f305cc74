"""Storage: the protocol of a store, and the SQLite backend."""
