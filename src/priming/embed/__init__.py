"""How texts become vectors: one small protocol and its backends."""
