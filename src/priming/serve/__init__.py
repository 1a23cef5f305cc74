"""Servers: HTTP, Unix socket, MCP, hooks."""
