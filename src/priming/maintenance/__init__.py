"""Keeping a namespace in order: merging, aliases, contradictions, health."""
