"""Hostile memories, rendered through every surface."""
