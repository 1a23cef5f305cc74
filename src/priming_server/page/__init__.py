"""The page: its files, the sessions of browsers, and the graph that it draws."""
