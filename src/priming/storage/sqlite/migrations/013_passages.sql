-- The vector of a long text is followed by those of its passages. Those that are stored without are computed anew.

DELETE FROM vectors WHERE EXISTS (SELECT 1 FROM versions v WHERE v.namespace = vectors.namespace
    AND v.memory = vectors.memory AND v.version = vectors.version AND length(CAST(v.content AS BLOB)) > 900);
