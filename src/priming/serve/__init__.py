"""The hooks of coding agents."""
