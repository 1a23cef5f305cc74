"""Sleep: a file for each stage, each a pure plan from what was read to the rows that would change."""
