"""The log: versions, undo, and questions about the past."""
