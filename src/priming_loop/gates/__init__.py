"""The gates of tasks: what their commands would do, and whether a person must say yes first."""
