"""How texts become vectors: a protocol and its backends."""
