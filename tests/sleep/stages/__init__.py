"""Tests of the stages of a night."""
