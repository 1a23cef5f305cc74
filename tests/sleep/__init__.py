"""Tests of the stages of sleep."""
