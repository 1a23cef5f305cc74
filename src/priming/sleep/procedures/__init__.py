"""The meaning of procedures: their steps as words, the comparison of two, and families of similar ones."""
