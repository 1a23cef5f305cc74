"""What statements say, and whether two say the same: one reader, one judge."""
