"""The operations that every surface offers: their table, their schema, and the services that carry them out."""
