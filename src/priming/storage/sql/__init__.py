"""The store in SQL: written once, against a dialect for each database."""
