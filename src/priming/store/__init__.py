"""Where memories are kept: one small protocol and its backends."""
