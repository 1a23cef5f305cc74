"""Tests of what only SQLite has: files, journals, damage."""
