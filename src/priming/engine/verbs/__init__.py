"""The verbs of ``Memory`` beyond remembering and recalling, by theme."""
