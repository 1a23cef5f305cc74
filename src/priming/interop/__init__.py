"""Importers and exporters, one file each."""
