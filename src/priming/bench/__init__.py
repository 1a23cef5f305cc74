"""Benchmarks of retrieval: sets with gold, contestants, scores, and reports of them."""
