"""Import and export: the seam of the importers."""
