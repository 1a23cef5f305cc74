"""The stages of a night: each plans its items and writes nothing."""
