"""Where memories are kept: a protocol and its backends."""
