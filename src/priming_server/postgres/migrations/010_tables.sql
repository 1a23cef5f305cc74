-- The tables of a store, as migrations 001 to 010 of SQLite leave them. Every key begins with the namespace, numbers are
-- counted within it, and no key refers to a row of another: a distributed PostgreSQL can place each namespace anywhere.
-- Times are UTC text of fixed width, and lists and mappings JSON text, so that both databases return the same values.
-- Row-level security shows a statement the rows of the namespace that its transaction names in `priming.namespace`.

CREATE TABLE namespaces (
    namespace TEXT COLLATE "C" PRIMARY KEY
);

CREATE TABLE memories (
    namespace     TEXT COLLATE "C" NOT NULL REFERENCES namespaces,
    number        BIGINT NOT NULL,
    id            TEXT COLLATE "C" NOT NULL,
    key           TEXT COLLATE "C" NOT NULL,
    kind          TEXT COLLATE "C" NOT NULL,
    status        TEXT COLLATE "C" NOT NULL,
    priority      DOUBLE PRECISION NOT NULL,
    weight        DOUBLE PRECISION NOT NULL,
    uses          BIGINT NOT NULL,
    last_used_at  TEXT COLLATE "C",
    helped        BIGINT NOT NULL,
    failed        BIGINT NOT NULL,
    confirmed     BIGINT NOT NULL,
    followed      BIGINT NOT NULL,
    overridden    BIGINT NOT NULL,
    confidence    DOUBLE PRECISION NOT NULL DEFAULT 1.0,
    stability     DOUBLE PRECISION,
    difficulty    DOUBLE PRECISION,
    endurance     DOUBLE PRECISION NOT NULL DEFAULT 1.0,
    reviewed_at   TEXT COLLATE "C",
    first_used_at TEXT COLLATE "C",
    recent        TEXT COLLATE "C",
    PRIMARY KEY (namespace, number),
    UNIQUE (namespace, id),
    UNIQUE (namespace, key)
);

CREATE TABLE versions (
    namespace   TEXT COLLATE "C" NOT NULL,
    memory      BIGINT NOT NULL,
    revision    BIGINT NOT NULL,
    version     BIGINT NOT NULL,
    recorded_at TEXT COLLATE "C" NOT NULL,
    retired_at  TEXT COLLATE "C",
    valid_from  TEXT COLLATE "C",
    valid_to    TEXT COLLATE "C",
    content     TEXT COLLATE "C" NOT NULL,
    gist        TEXT COLLATE "C" NOT NULL,
    heading     TEXT COLLATE "C",
    session     TEXT COLLATE "C",
    speaker     TEXT COLLATE "C",
    predicates  TEXT COLLATE "C",
    tags        TEXT COLLATE "C",
    metadata    TEXT COLLATE "C",
    source      TEXT COLLATE "C",
    trust       TEXT COLLATE "C" NOT NULL,
    importance  DOUBLE PRECISION NOT NULL,
    outcome     TEXT COLLATE "C",
    occurred_at TEXT COLLATE "C",
    digest      TEXT COLLATE "C" NOT NULL,
    words       TSVECTOR,
    PRIMARY KEY (namespace, memory, revision),
    FOREIGN KEY (namespace, memory) REFERENCES memories (namespace, number)
);
CREATE INDEX versions_by_digest ON versions (namespace, digest) WHERE retired_at IS NULL;
CREATE INDEX versions_by_session ON versions (namespace, session, memory)
    WHERE retired_at IS NULL AND session IS NOT NULL;

CREATE TABLE generations (
    namespace  TEXT COLLATE "C" NOT NULL REFERENCES namespaces,
    generation BIGINT NOT NULL,
    name       TEXT COLLATE "C" NOT NULL,
    PRIMARY KEY (namespace, generation),
    UNIQUE (namespace, name)
);

CREATE TABLE vectors (
    namespace  TEXT COLLATE "C" NOT NULL,
    memory     BIGINT NOT NULL,
    version    BIGINT NOT NULL,
    generation BIGINT NOT NULL,
    vector     VECTOR NOT NULL,
    PRIMARY KEY (namespace, memory, version, generation),
    FOREIGN KEY (namespace, memory) REFERENCES memories (namespace, number),
    FOREIGN KEY (namespace, generation) REFERENCES generations (namespace, generation)
);

CREATE TABLE links (
    namespace      TEXT COLLATE "C" NOT NULL,
    source         BIGINT NOT NULL,
    target         BIGINT NOT NULL,
    relation       TEXT COLLATE "C" NOT NULL,
    weight         DOUBLE PRECISION NOT NULL,
    given          BOOLEAN NOT NULL,
    created_at     TEXT COLLATE "C" NOT NULL,
    last_activated TEXT COLLATE "C",
    PRIMARY KEY (namespace, source, relation, target),
    FOREIGN KEY (namespace, source) REFERENCES memories (namespace, number),
    FOREIGN KEY (namespace, target) REFERENCES memories (namespace, number)
);
CREATE INDEX links_by_target ON links (namespace, target);

-- The links of a memory, both ways, as one value: what a search reads of each node that it comes to. Written with the
-- links, in the same transaction.
CREATE TABLE adjacency (
    namespace TEXT COLLATE "C" NOT NULL,
    memory    BIGINT NOT NULL,
    others    BIGINT[] NOT NULL,
    relations TEXT[] COLLATE "C" NOT NULL,
    weights   DOUBLE PRECISION[] NOT NULL,
    outgoing  BOOLEAN[] NOT NULL,
    PRIMARY KEY (namespace, memory),
    FOREIGN KEY (namespace, memory) REFERENCES memories (namespace, number)
);

CREATE TABLE verdicts (
    namespace TEXT COLLATE "C" NOT NULL,
    memory    BIGINT NOT NULL,
    verdict   TEXT COLLATE "C" NOT NULL,
    operation TEXT COLLATE "C" NOT NULL,
    recall    TEXT COLLATE "C" NOT NULL,
    at        TEXT COLLATE "C" NOT NULL,
    tier      TEXT COLLATE "C" NOT NULL,
    session   TEXT COLLATE "C",
    cue       TEXT COLLATE "C",
    PRIMARY KEY (namespace, memory, verdict, operation),
    FOREIGN KEY (namespace, memory) REFERENCES memories (namespace, number)
);
CREATE UNIQUE INDEX verdicts_once ON verdicts (namespace, recall, memory, verdict) WHERE recall <> '';

CREATE TABLE pairs (
    namespace TEXT COLLATE "C" NOT NULL,
    source    BIGINT NOT NULL,
    target    BIGINT NOT NULL,
    times     TEXT COLLATE "C",
    PRIMARY KEY (namespace, source, target),
    FOREIGN KEY (namespace, source) REFERENCES memories (namespace, number),
    FOREIGN KEY (namespace, target) REFERENCES memories (namespace, number)
);
CREATE INDEX pairs_by_target ON pairs (namespace, target);

CREATE TABLE runs (
    namespace  TEXT COLLATE "C" NOT NULL REFERENCES namespaces,
    id         TEXT COLLATE "C" NOT NULL,
    session    TEXT COLLATE "C" NOT NULL,
    started_at TEXT COLLATE "C" NOT NULL,
    ended_at   TEXT COLLATE "C",
    settled    TEXT COLLATE "C",
    shown      TEXT COLLATE "C",
    PRIMARY KEY (namespace, id)
);
CREATE INDEX runs_waiting ON runs (namespace, started_at) WHERE settled IS NULL;

CREATE TABLE weights (
    namespace TEXT COLLATE "C" NOT NULL REFERENCES namespaces,
    profile   TEXT COLLATE "C" NOT NULL,
    weights   TEXT COLLATE "C",
    PRIMARY KEY (namespace, profile)
);

CREATE TABLE relations (
    namespace  TEXT COLLATE "C" NOT NULL REFERENCES namespaces,
    relation   TEXT COLLATE "C" NOT NULL,
    sign       BIGINT NOT NULL,
    introduced BOOLEAN NOT NULL,
    PRIMARY KEY (namespace, relation)
);

CREATE TABLE operations (
    namespace TEXT COLLATE "C" NOT NULL REFERENCES namespaces,
    number    BIGINT NOT NULL,
    id        TEXT COLLATE "C" NOT NULL,
    kind      TEXT COLLATE "C" NOT NULL,
    at        TEXT COLLATE "C" NOT NULL,
    actor     TEXT COLLATE "C",
    source    TEXT COLLATE "C",
    reason    TEXT COLLATE "C",
    undone_by TEXT COLLATE "C",
    message   TEXT COLLATE "C",
    erased    TEXT COLLATE "C",
    undoes    TEXT COLLATE "C",
    via       TEXT COLLATE "C",
    session   TEXT COLLATE "C",
    PRIMARY KEY (namespace, number),
    UNIQUE (namespace, id)
);
CREATE INDEX operations_by_time ON operations (namespace, at);
CREATE INDEX operations_undoing ON operations (namespace, number) WHERE undoes IS NOT NULL;
CREATE INDEX operations_by_source ON operations (namespace, source, number) WHERE source IS NOT NULL;

CREATE TABLE changes (
    namespace TEXT COLLATE "C" NOT NULL,
    operation BIGINT NOT NULL,
    piece     BIGINT NOT NULL,
    rows      TEXT COLLATE "C" NOT NULL,
    PRIMARY KEY (namespace, operation, piece),
    FOREIGN KEY (namespace, operation) REFERENCES operations (namespace, number)
);

CREATE TABLE touched (
    namespace TEXT COLLATE "C" NOT NULL,
    memory    TEXT COLLATE "C" NOT NULL,
    operation BIGINT NOT NULL,
    PRIMARY KEY (namespace, memory, operation)
);

CREATE TABLE traces (
    namespace TEXT COLLATE "C" NOT NULL,
    number    BIGINT NOT NULL,
    recall_id TEXT COLLATE "C" NOT NULL,
    at        TEXT COLLATE "C" NOT NULL,
    session   TEXT COLLATE "C",
    profile   TEXT COLLATE "C" NOT NULL,
    cue       TEXT COLLATE "C" NOT NULL,
    hits      TEXT COLLATE "C" NOT NULL,
    nodes     TEXT COLLATE "C",
    flow      BYTEA,
    counted   BOOLEAN NOT NULL DEFAULT false,
    PRIMARY KEY (namespace, number),
    UNIQUE (namespace, recall_id)
);
CREATE INDEX traces_by_time ON traces (namespace, at, number);
CREATE INDEX traces_by_session ON traces (namespace, session, at, number) WHERE session IS NOT NULL;
CREATE INDEX traces_with_flow ON traces (namespace, number) WHERE flow IS NOT NULL;

CREATE TABLE activations (
    namespace TEXT COLLATE "C" NOT NULL,
    profile   TEXT COLLATE "C" NOT NULL,
    memory    TEXT COLLATE "C" NOT NULL,
    day       TEXT COLLATE "C" NOT NULL,
    total     BIGINT NOT NULL,
    PRIMARY KEY (namespace, profile, memory, day)
);

CREATE TABLE loop_sessions (
    namespace  TEXT COLLATE "C" NOT NULL,
    id         TEXT COLLATE "C" NOT NULL,
    parent     TEXT COLLATE "C",
    state      TEXT COLLATE "C" NOT NULL,
    objective  TEXT COLLATE "C" NOT NULL,
    created_at TEXT COLLATE "C" NOT NULL,
    updated_at TEXT COLLATE "C" NOT NULL,
    body       TEXT COLLATE "C" NOT NULL,
    PRIMARY KEY (namespace, id)
);

CREATE TABLE read_only (
    namespace TEXT COLLATE "C" PRIMARY KEY
);

-- Who may use a server of this store. The only table that is not of a namespace: a secret is looked up before anything
-- is known of its owner.
CREATE TABLE tokens (
    id         TEXT COLLATE "C" PRIMARY KEY,
    namespace  TEXT COLLATE "C" NOT NULL,
    name       TEXT COLLATE "C",
    digest     BYTEA NOT NULL,
    created_at TEXT COLLATE "C" NOT NULL,
    revoked_at TEXT COLLATE "C",
    used_at    TEXT COLLATE "C",
    kind       TEXT COLLATE "C" NOT NULL DEFAULT 'admin',
    expires_at TEXT COLLATE "C"
);

DO $$
DECLARE
    named TEXT;
BEGIN
    FOREACH named IN ARRAY ARRAY['namespaces', 'memories', 'versions', 'generations', 'vectors', 'links', 'adjacency',
        'verdicts', 'pairs', 'runs', 'weights', 'relations', 'operations', 'changes', 'touched', 'traces', 'activations',
        'loop_sessions', 'read_only'] LOOP
        EXECUTE format('ALTER TABLE %I ENABLE ROW LEVEL SECURITY', named);
        EXECUTE format('ALTER TABLE %I FORCE ROW LEVEL SECURITY', named);
        EXECUTE format('CREATE POLICY of_namespace ON %I USING (namespace = current_setting(''priming.namespace'', true))',
            named);
    END LOOP;
    -- Those from which a backup learns what namespaces there are: the role that makes the store may list them, and its
    -- members, and change nothing so. No namespace has that name, as a name is one line.
    FOREACH named IN ARRAY ARRAY['namespaces', 'traces', 'activations', 'loop_sessions', 'read_only'] LOOP
        EXECUTE format('CREATE POLICY of_store ON %I FOR SELECT TO CURRENT_USER'
            ' USING (current_setting(''priming.namespace'', true) = E''*\n'')', named);
    END LOOP;
END $$;

-- What `adjacency` holds, computed from the links.
CREATE VIEW link_ends WITH (security_invoker = true) AS
    SELECT namespace, source AS memory, target AS other, relation, weight, true AS outgoing FROM links
    UNION ALL
    SELECT namespace, target, source, relation, weight, false FROM links;
CREATE VIEW packed_links WITH (security_invoker = true) AS
    SELECT namespace, memory,
        array_agg(other ORDER BY weight DESC, other, relation, outgoing) AS others,
        array_agg(relation ORDER BY weight DESC, other, relation, outgoing) AS relations,
        array_agg(weight ORDER BY weight DESC, other, relation, outgoing) AS weights,
        array_agg(outgoing ORDER BY weight DESC, other, relation, outgoing) AS outgoing
    FROM link_ends GROUP BY namespace, memory;
