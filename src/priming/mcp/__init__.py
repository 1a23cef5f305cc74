"""MCP by hand: its messages, the operations as tools, and the exchange on standard input and output."""
