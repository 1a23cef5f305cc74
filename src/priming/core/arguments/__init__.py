"""Checks of arguments: plain values in ``checks``, numbers and arrays in ``arrays``."""
