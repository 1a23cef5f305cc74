"""Tests of the page's routes."""
