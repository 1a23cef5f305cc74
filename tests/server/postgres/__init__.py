"""Tests of what only PostgreSQL has, and of the contract, on a real server with pgvector."""
