"""The graph and recalls as pictures and files."""
