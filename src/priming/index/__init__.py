"""One namespace in memory: postings, vectors, graph and vocabulary, kept current from the log."""
