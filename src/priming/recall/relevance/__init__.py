"""How relevant each hit is, whether the best of them is an answer, and how relevant a rule is in a context."""
