"""A database as files on a disk: whether they are there and may be written, who holds their lock, what is damaged."""
