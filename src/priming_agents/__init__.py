"""Priming in coding agents: their hooks, what sets them up, and the capture of sessions."""
