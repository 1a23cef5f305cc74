"""Recall: retrieval, ranking, packing, traces."""
