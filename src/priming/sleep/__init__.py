"""Sleep: nightly consolidation; the stages are in ``stages``, a file each."""
