-- The CRC-32 of each vector's bytes: SQLite finds no bit that flips within a value, and a vector is not in the log.
-- Vectors that were stored before have none.

ALTER TABLE vectors ADD COLUMN checksum INTEGER;
