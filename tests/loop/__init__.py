"""Tests of the loop, with programs that it runs."""
