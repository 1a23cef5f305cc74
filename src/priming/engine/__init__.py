"""The verbs: read a snapshot, compute, write one operation."""
