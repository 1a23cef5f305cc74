"""Forms of names, a kind in each module: what marks a name, and where it ends."""
