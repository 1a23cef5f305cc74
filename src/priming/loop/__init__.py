"""The loop: a session reasons about an objective, acts task by task, verifies each result, and learns from it."""
