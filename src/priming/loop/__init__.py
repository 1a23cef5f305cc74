"""The loop: reason about an objective, act on its tasks, verify, and learn from what came of it."""
