-- Memories, their versions, their links, and the log of every change. Every key begins with the namespace.
-- Times are UTC text of fixed width, so that their order as text is their order in time.

CREATE TABLE namespaces (
    namespace TEXT PRIMARY KEY
) STRICT, WITHOUT ROWID;

-- Identity and state: what stays the same over versions, and what verdicts move.
-- `number` is the order of insertion; inside the database it stands for the id.
CREATE TABLE memories (
    namespace    TEXT NOT NULL REFERENCES namespaces,
    number       INTEGER NOT NULL,
    id           TEXT NOT NULL,
    key          TEXT NOT NULL,
    kind         TEXT NOT NULL,
    status       TEXT NOT NULL,
    priority     REAL NOT NULL,
    weight       REAL NOT NULL,
    uses         INTEGER NOT NULL,
    last_used_at TEXT,
    helped       INTEGER NOT NULL,
    failed       INTEGER NOT NULL,
    confirmed    INTEGER NOT NULL,
    followed     INTEGER NOT NULL,
    overridden   INTEGER NOT NULL,
    PRIMARY KEY (namespace, number),
    UNIQUE (namespace, id),
    UNIQUE (namespace, key)
) STRICT, WITHOUT ROWID;

-- Content: rows are never edited, only retired; `revision` counts the rows of a memory, `version` its versions.
-- Known during [recorded_at, retired_at), true during [valid_from, valid_to); open ends are NULL.
CREATE TABLE versions (
    number      INTEGER PRIMARY KEY,
    namespace   TEXT NOT NULL,
    memory      INTEGER NOT NULL,
    revision    INTEGER NOT NULL,
    version     INTEGER NOT NULL,
    recorded_at TEXT NOT NULL,
    retired_at  TEXT,
    valid_from  TEXT,
    valid_to    TEXT,
    content     TEXT NOT NULL,
    gist        TEXT NOT NULL,
    heading     TEXT,
    session     TEXT,
    speaker     TEXT,
    predicates  TEXT,
    tags        TEXT,
    metadata    TEXT,
    source      TEXT,
    trust       TEXT NOT NULL,
    importance  REAL NOT NULL,
    outcome     TEXT,
    occurred_at TEXT,
    digest      TEXT NOT NULL,
    bigrams     TEXT,
    UNIQUE (namespace, memory, revision),
    FOREIGN KEY (namespace, memory) REFERENCES memories (namespace, number)
) STRICT;
CREATE INDEX versions_by_digest ON versions (namespace, digest) WHERE retired_at IS NULL;
CREATE INDEX versions_by_session ON versions (namespace, session, memory)
    WHERE retired_at IS NULL AND session IS NOT NULL;

-- The text index holds what is known now: words as they stand, and pairs of adjacent characters where a
-- script writes no spaces. It is kept by statements over many rows: a trigger would write it out at every row.
CREATE VIEW known_texts AS SELECT number, heading, content, bigrams FROM versions WHERE retired_at IS NULL;
CREATE VIRTUAL TABLE words USING fts5 (
    heading, content, bigrams,
    content = 'known_texts', content_rowid = 'number', tokenize = 'porter unicode61'
);

CREATE TABLE generations (
    generation INTEGER PRIMARY KEY,
    name       TEXT NOT NULL UNIQUE
) STRICT;

-- Unit vectors as little-endian float32; each belongs to one version and one embedding generation.
CREATE TABLE vectors (
    namespace  TEXT NOT NULL,
    memory     INTEGER NOT NULL,
    version    INTEGER NOT NULL,
    generation INTEGER NOT NULL REFERENCES generations,
    vector     BLOB NOT NULL,
    PRIMARY KEY (namespace, memory, version, generation),
    FOREIGN KEY (namespace, memory) REFERENCES memories (namespace, number)
) STRICT;

CREATE TABLE links (
    namespace      TEXT NOT NULL,
    source         INTEGER NOT NULL,
    target         INTEGER NOT NULL,
    relation       TEXT NOT NULL,
    weight         REAL NOT NULL,
    given          INTEGER NOT NULL,
    created_at     TEXT NOT NULL,
    last_activated TEXT,
    PRIMARY KEY (namespace, source, relation, target),
    FOREIGN KEY (namespace, source) REFERENCES memories (namespace, number),
    FOREIGN KEY (namespace, target) REFERENCES memories (namespace, number)
) STRICT, WITHOUT ROWID;
CREATE INDEX links_by_target ON links (namespace, target);

-- The log. `erased` lists the ids of memories that a purge removed, as JSON.
CREATE TABLE operations (
    namespace TEXT NOT NULL REFERENCES namespaces,
    number    INTEGER NOT NULL,
    id        TEXT NOT NULL,
    kind      TEXT NOT NULL,
    at        TEXT NOT NULL,
    actor     TEXT,
    source    TEXT,
    reason    TEXT,
    undone_by TEXT,
    message   TEXT,
    erased    TEXT,
    PRIMARY KEY (namespace, number),
    UNIQUE (namespace, id)
) STRICT, WITHOUT ROWID;
CREATE INDEX operations_by_time ON operations (namespace, at);

-- What an operation changed, in pieces of some hundred rows: [[table, before, after], …] as JSON.
CREATE TABLE changes (
    namespace TEXT NOT NULL,
    operation INTEGER NOT NULL,
    piece     INTEGER NOT NULL,
    rows      TEXT NOT NULL,
    PRIMARY KEY (namespace, operation, piece),
    FOREIGN KEY (namespace, operation) REFERENCES operations (namespace, number)
) STRICT;

-- Which operations a memory, named by its id, occurs in.
CREATE TABLE touched (
    namespace TEXT NOT NULL,
    memory    TEXT NOT NULL,
    operation INTEGER NOT NULL,
    PRIMARY KEY (namespace, memory, operation)
) STRICT, WITHOUT ROWID;

-- Recalls, kept for a while: what was asked, and what came up. `number` is their order.
CREATE TABLE traces (
    namespace TEXT NOT NULL,
    number    INTEGER NOT NULL,
    recall_id TEXT NOT NULL,
    at        TEXT NOT NULL,
    session   TEXT,
    profile   TEXT NOT NULL,
    cue       TEXT NOT NULL,
    hits      TEXT NOT NULL,
    PRIMARY KEY (namespace, number),
    UNIQUE (namespace, recall_id)
) STRICT;
CREATE INDEX traces_by_time ON traces (namespace, at, number);

-- Without figures SQLite takes a namespace for ten rows, and reads all of it where an index would lead straight
-- to one. These are the figures of a large namespace.
ANALYZE;
INSERT INTO sqlite_stat1 (tbl, idx, stat) VALUES
    ('memories', 'memories', '100000 100000 1'),
    ('memories', 'sqlite_autoindex_memories_2', '100000 100000 1'),
    ('memories', 'sqlite_autoindex_memories_3', '100000 100000 1'),
    ('versions', 'sqlite_autoindex_versions_1', '100000 100000 1 1'),
    ('versions', 'versions_by_digest', '100000 100000 1'),
    ('versions', 'versions_by_session', '100000 100000 100 1'),
    ('vectors', 'sqlite_autoindex_vectors_1', '100000 100000 1 1 1'),
    ('links', 'links', '1000000 1000000 10 5 1'),
    ('links', 'links_by_target', '1000000 1000000 10'),
    ('operations', 'operations', '100000 100000 1'),
    ('operations', 'sqlite_autoindex_operations_2', '100000 100000 1'),
    ('operations', 'operations_by_time', '100000 100000 1'),
    ('changes', 'sqlite_autoindex_changes_1', '100000 100000 1 1'),
    ('touched', 'touched', '1000000 1000000 10 1'),
    ('traces', 'sqlite_autoindex_traces_1', '10000 10000 1'),
    ('traces', 'sqlite_autoindex_traces_2', '10000 10000 1'),
    ('traces', 'traces_by_time', '10000 10000 1 1');
ANALYZE sqlite_schema;
