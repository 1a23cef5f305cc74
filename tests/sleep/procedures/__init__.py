"""Tests of what procedures say."""
