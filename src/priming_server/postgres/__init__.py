"""Storage in PostgreSQL with pgvector: any number of processes on any number of machines."""
