"""Importers of the stores of other memories: a file for each."""
