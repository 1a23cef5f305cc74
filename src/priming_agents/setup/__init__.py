"""``priming setup``: the entries in an agent's files, the store of the project, and the versions of agents."""
