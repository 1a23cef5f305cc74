-- How often memories were activated, in a profile whose base level counts that: the total at the end of each day on which
-- it grew. Not in the log: like a recall, an activation is no change. It goes when the memory is purged.

-- Whether a recall counted its hits as activated.
ALTER TABLE traces ADD COLUMN counted INTEGER NOT NULL DEFAULT 0;

CREATE TABLE activations (
    namespace TEXT NOT NULL REFERENCES namespaces,
    profile   TEXT NOT NULL,
    memory    TEXT NOT NULL,
    day       TEXT NOT NULL,
    total     INTEGER NOT NULL,
    PRIMARY KEY (namespace, profile, memory, day)
) STRICT, WITHOUT ROWID;

INSERT INTO sqlite_stat1 (tbl, idx, stat) VALUES ('activations', 'activations', '100000 100000 50000 100 1');
ANALYZE sqlite_schema;
