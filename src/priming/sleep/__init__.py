"""Sleep: nightly consolidation, a file for each stage."""
