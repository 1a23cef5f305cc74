"""The migrations of a PostgreSQL store, and what carries them out."""
