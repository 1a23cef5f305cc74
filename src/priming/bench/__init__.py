"""Benchmarks of retrieval: sets with gold labels, contestants, scores and reports."""
