-- What learning needs: how sure a memory is, what flowed in a recall, verdicts, pairs that were active together, runs.

ALTER TABLE memories ADD COLUMN confidence REAL NOT NULL DEFAULT 1.0;

-- The latest recalls keep what each link carried: `nodes` lists the ids of the memories that it speaks of, as JSON.
ALTER TABLE traces ADD COLUMN nodes TEXT;
ALTER TABLE traces ADD COLUMN flow BLOB;
CREATE INDEX traces_by_session ON traces (namespace, session, at, number) WHERE session IS NOT NULL;
CREATE INDEX traces_with_flow ON traces (namespace, number) WHERE flow IS NOT NULL;

-- What came of a memory that a recall brought up; `recall` is empty where there was none. `cue` is JSON.
CREATE TABLE verdicts (
    namespace TEXT NOT NULL,
    memory    INTEGER NOT NULL,
    verdict   TEXT NOT NULL,
    operation TEXT NOT NULL,
    recall    TEXT NOT NULL,
    at        TEXT NOT NULL,
    tier      TEXT NOT NULL,
    session   TEXT,
    cue       TEXT,
    PRIMARY KEY (namespace, memory, verdict, operation),
    FOREIGN KEY (namespace, memory) REFERENCES memories (namespace, number)
) STRICT, WITHOUT ROWID;
CREATE UNIQUE INDEX verdicts_once ON verdicts (namespace, recall, memory, verdict) WHERE recall <> '';

-- When two memories were active together lately: `times` is a JSON list.
CREATE TABLE pairs (
    namespace TEXT NOT NULL,
    source    INTEGER NOT NULL,
    target    INTEGER NOT NULL,
    times     TEXT,
    PRIMARY KEY (namespace, source, target),
    FOREIGN KEY (namespace, source) REFERENCES memories (namespace, number),
    FOREIGN KEY (namespace, target) REFERENCES memories (namespace, number)
) STRICT, WITHOUT ROWID;
CREATE INDEX pairs_by_target ON pairs (namespace, target);

-- Pieces of work: `shown` lists the ids of the memories that recalls in its session brought up, as JSON.
CREATE TABLE runs (
    namespace  TEXT NOT NULL REFERENCES namespaces,
    id         TEXT NOT NULL,
    session    TEXT NOT NULL,
    started_at TEXT NOT NULL,
    ended_at   TEXT,
    settled    TEXT,
    shown      TEXT,
    PRIMARY KEY (namespace, id)
) STRICT, WITHOUT ROWID;
CREATE INDEX runs_waiting ON runs (namespace, started_at) WHERE settled IS NULL;

-- What an operation took back, as JSON. `undone_by` is the undo that stands: NULL where it was undone in turn.
ALTER TABLE operations ADD COLUMN undoes TEXT;
UPDATE operations SET undoes = json_array(undone.id) FROM operations undone
    WHERE undone.namespace = operations.namespace AND undone.undone_by = operations.id;
CREATE INDEX operations_undoing ON operations (namespace, number) WHERE undoes IS NOT NULL;
WITH RECURSIVE undos (namespace, first, last, steps) AS (
    SELECT namespace, id, undone_by, 1 FROM operations WHERE undone_by IS NOT NULL
    UNION ALL
    SELECT u.namespace, u.first, o.undone_by, u.steps + 1 FROM undos u JOIN operations o
        ON o.namespace = u.namespace AND o.id = u.last WHERE o.undone_by IS NOT NULL
)
UPDATE operations SET undone_by = NULL WHERE (namespace, id) IN
    (SELECT namespace, first FROM undos GROUP BY namespace, first HAVING max(steps) % 2 = 0);

-- Learning logs its tier as the source of an operation; a rollback asks for one of them.
CREATE INDEX operations_by_source ON operations (namespace, source, number) WHERE source IS NOT NULL;

INSERT INTO sqlite_stat1 (tbl, idx, stat) VALUES
    ('verdicts', 'verdicts', '100000 100000 10 5 1'),
    ('verdicts', 'verdicts_once', '100000 100000 5 2 1'),
    ('pairs', 'pairs', '1000000 1000000 10 1'),
    ('pairs', 'pairs_by_target', '1000000 1000000 10'),
    ('runs', 'runs', '10000 10000 1'),
    ('runs', 'runs_waiting', '100 100 1'),
    ('operations', 'operations_by_source', '100000 100000 10000 1'),
    ('operations', 'operations_undoing', '1000 1000 1'),
    ('traces', 'traces_by_session', '10000 10000 100 1 1'),
    ('traces', 'traces_with_flow', '1000 1000 1');
ANALYZE sqlite_schema;
