"""The reference memory server of MCP, ``server-memory``, over a memory: ``priming mcp --compat server-memory``."""
