"""Rows that are damaged: found by name, kept out of a salvage, and named by what reads them."""
