"""Measuring and tuning recall: benchmarks on sets with gold, and ablation on a store's own verdicts."""
