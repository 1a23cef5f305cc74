"""Storage in one SQLite file: the store, its log, its migrations, and what a file can suffer."""
