"""Hooks of coding agents: what each event reports to an agent, and how an agent is set up to call them."""
