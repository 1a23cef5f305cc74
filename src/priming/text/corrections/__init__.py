"""What a later statement changes about an earlier one: statements as signed words, their alignment, the change."""
