-- The signs that somebody gave to relations that are not built in: 1 brings activation, -1 takes it away. `introduced` with
-- the first link of the relation. A row of the log like any other.

CREATE TABLE relations (
    namespace TEXT NOT NULL REFERENCES namespaces,
    relation  TEXT NOT NULL,
    sign      INTEGER NOT NULL,
    introduced INTEGER NOT NULL,
    PRIMARY KEY (namespace, relation)
) STRICT, WITHOUT ROWID;
