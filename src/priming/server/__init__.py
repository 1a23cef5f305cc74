"""Servers of a store: HTTP, its Unix socket, MCP."""
