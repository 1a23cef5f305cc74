"""MCP: the first answers, the protocol and its tools, on standard input and output or over HTTP."""
