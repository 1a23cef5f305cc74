"""Files that a task will touch: the law by which activation reaches them, and what the answer shows."""
