-- The vectors of a long text's passages, beside that of the whole: a value of pgvector has no room for all of them.
-- Vectors of long texts that were stored without are computed anew.

-- step: short
ALTER TABLE vectors ADD COLUMN IF NOT EXISTS passages BYTEA;
-- step: backfill vectors (memory, version, generation)
DELETE FROM vectors x USING batch b, versions v
    WHERE x.namespace = b.namespace AND x.memory = b.memory AND x.version = b.version AND x.generation = b.generation
    AND x.passages IS NULL AND v.namespace = x.namespace AND v.memory = x.memory AND v.version = x.version
    AND octet_length(v.content) > 900;
