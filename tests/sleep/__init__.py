"""Tests of the night and of what its stages share."""
