"""The shapes of other libraries over a memory: an adapter a file, each imported by the name of its library."""
