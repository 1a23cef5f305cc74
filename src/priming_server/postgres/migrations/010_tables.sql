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

-- Ethos in SQL. Its table of links, as a view that takes inserts: a link that exists is strengthened by .1 up to 1, as the
-- seed's ON CONFLICT does, and each insert is an operation of the log, which undo takes back.
CREATE VIEW memory_graph_links WITH (security_invoker = true) AS
    SELECT a.kind AS from_type, a.id AS from_id, b.kind AS to_type, b.id AS to_id,
        CASE l.relation WHEN 'similar-to' THEN 'similarity' ELSE l.relation END AS relation, l.weight
    FROM links l
    JOIN memories a ON a.namespace = l.namespace AND a.number = l.source
    JOIN memories b ON b.namespace = l.namespace AND b.number = l.target
    WHERE l.namespace = current_setting('priming.namespace', true);

CREATE FUNCTION add_memory_graph_link() RETURNS trigger LANGUAGE plpgsql AS $$
DECLARE
    here     TEXT := current_setting('priming.namespace', true);
    name     TEXT := CASE NEW.relation WHEN 'similarity' THEN 'similar-to' ELSE coalesce(NEW.relation, 'similar-to') END;
    moment   TEXT := to_char(now() AT TIME ZONE 'UTC', 'YYYY-MM-DD"T"HH24:MI:SS.US"+00:00"');
    from_row BIGINT;
    to_row   BIGINT;
    former   links%ROWTYPE;
    latter   links%ROWTYPE;
    log_row  BIGINT;
BEGIN
    PERFORM pg_advisory_xact_lock(hashtextextended(current_schema() || ' write ' || here, 0));
    SELECT number INTO from_row FROM memories WHERE namespace = here AND id = NEW.from_id;
    SELECT number INTO to_row FROM memories WHERE namespace = here AND id = NEW.to_id;
    IF from_row IS NULL OR to_row IS NULL THEN
        RAISE EXCEPTION 'from_id = %, to_id = %: both must be memories of the namespace "%"', NEW.from_id, NEW.to_id, here
            USING HINT = 'SET LOCAL priming.namespace names the namespace; remember the memories first';
    END IF;
    IF from_row = to_row THEN
        RAISE EXCEPTION 'to_id = %: must differ from from_id', NEW.to_id;
    END IF;
    IF NEW.weight IS NULL OR NOT NEW.weight BETWEEN 0 AND 1 THEN
        RAISE EXCEPTION 'weight = %: must be from 0 to 1', NEW.weight;
    END IF;
    IF name !~ '[^[:space:]]' OR length(name) > 512 OR name ~ '[[:cntrl:]]' THEN
        RAISE EXCEPTION 'relation = %: must be one printable line of 1 to 512 characters', quote_literal(left(name, 100));
    END IF;
    IF EXISTS (SELECT FROM read_only WHERE namespace = here) THEN
        RAISE EXCEPTION 'the namespace "%" is read-only', here
            USING HINT = 'priming token read-only NAMESPACE --off accepts writes again';
    END IF;
    SELECT * INTO former FROM links
        WHERE namespace = here AND source = from_row AND relation = name AND target = to_row;
    INSERT INTO links VALUES (here, from_row, to_row, name, NEW.weight, true, moment, NULL)
        ON CONFLICT (namespace, source, relation, target) DO UPDATE SET weight = least(1.0, links.weight + 0.1)
        RETURNING * INTO latter;
    SELECT coalesce(max(number), 0) + 1 INTO log_row FROM operations WHERE namespace = here;
    INSERT INTO operations (namespace, number, id, kind, at, reason, via)
        VALUES (here, log_row, gen_random_uuid()::text, 'link', moment, 'inserted into memory_graph_links', 'sql');
    INSERT INTO changes VALUES (here, log_row, 0, json_build_object(
        'fields', json_build_object('links',
            json_build_array('source', 'target', 'relation', 'weight', 'created_at', 'given', 'last_activated')),
        'rows', json_build_array(json_build_array('links',
            CASE WHEN former.source IS NOT NULL THEN json_build_array(NEW.from_id, NEW.to_id, name, former.weight,
                former.created_at, former.given, former.last_activated) END,
            json_build_array(NEW.from_id, NEW.to_id, name, latter.weight, latter.created_at, latter.given,
                latter.last_activated))))::text);
    INSERT INTO touched VALUES (here, NEW.from_id, log_row), (here, NEW.to_id, log_row) ON CONFLICT DO NOTHING;
    DELETE FROM adjacency WHERE namespace = here AND memory IN (from_row, to_row);
    INSERT INTO adjacency (namespace, memory, others, relations, weights, outgoing)
        SELECT namespace, memory, others, relations, weights, outgoing FROM packed_links
        WHERE namespace = here AND memory IN (from_row, to_row);
    PERFORM pg_notify('priming_log', md5(current_schema() || ' ' || here));
    RETURN NEW;
END $$;
CREATE TRIGGER added INSTEAD OF INSERT ON memory_graph_links FOR EACH ROW EXECUTE FUNCTION add_memory_graph_link();

-- The strongest links that touch any of these memories, `similar-to` both ways; links that only say in what session or file
-- something was, or that oppose, carry nothing.
CREATE FUNCTION ethos_links(nodes BIGINT[], most INTEGER)
RETURNS TABLE (source BIGINT, target BIGINT, weight DOUBLE PRECISION) LANGUAGE sql STABLE AS $$
    WITH touching AS (
        -- A link between two of the memories is listed at both.
        SELECT DISTINCT CASE WHEN l.outgoing THEN a.memory ELSE l.other END AS source,
            CASE WHEN l.outgoing THEN l.other ELSE a.memory END AS target, l.relation, l.weight
        FROM adjacency a CROSS JOIN unnest(a.others, a.relations, a.weights, a.outgoing)
            AS l(other, relation, weight, outgoing)
        WHERE a.namespace = current_setting('priming.namespace', true) AND a.memory = ANY (nodes) AND l.weight > 0
            AND l.relation NOT IN ('next', 'next-but-one', 'part-of', 'mentions', 'touches', 'removed-in', 'co-activated',
                'conflicts', 'overrides', 'deprecated-to', 'merged-into')
    ), strongest AS (
        SELECT * FROM touching t
        ORDER BY t.weight DESC, least(t.source, t.target), greatest(t.source, t.target), t.relation LIMIT most
    )
    SELECT s.source, s.target, s.weight FROM strongest s
    UNION ALL
    SELECT s.target, s.source, s.weight FROM strongest s WHERE s.relation = 'similar-to'
$$;

-- Ethos' search: the nearest memories as anchors, three steps over the strongest 500 links of what is active, and its blend.
-- It reads the vectors through their index, where a namespace is large enough to have one, and no link beyond those it walks.
CREATE FUNCTION ethos_search(
    query VECTOR,
    top INTEGER DEFAULT 10,
    spreading_strength DOUBLE PRECISION DEFAULT 0.85,
    iterations INTEGER DEFAULT 3,
    weight_similarity DOUBLE PRECISION DEFAULT 0.5,
    weight_activation DOUBLE PRECISION DEFAULT 0.3,
    weight_structural DOUBLE PRECISION DEFAULT 0.2,
    anchor_top_k_episodes INTEGER DEFAULT 10,
    anchor_top_k_facts INTEGER DEFAULT 10,
    most_links INTEGER DEFAULT 500
) RETURNS TABLE (type TEXT, id TEXT, key TEXT, score DOUBLE PRECISION, similarity DOUBLE PRECISION,
    activation DOUBLE PRECISION, in_degree BIGINT)
LANGUAGE plpgsql AS $$
DECLARE
    here    TEXT := current_setting('priming.namespace', true);
    latest  BIGINT;
    nodes   BIGINT[];
    amounts DOUBLE PRECISION[];
    nearest CONSTANT TEXT := 'SELECT m.number, greatest(0, 1 - ((x.vector::vector(%3$s)) <=> $1)) AS near FROM vectors x'
        ' JOIN memories m ON m.namespace = x.namespace AND m.number = x.memory'
        ' JOIN versions v ON v.namespace = x.namespace AND v.memory = x.memory AND v.version = x.version'
        ' WHERE x.namespace = %1$L AND x.generation = %2$s AND m.status = ''active'' AND v.retired_at IS NULL'
        ' AND v.valid_to IS NULL AND (m.kind = ''episode'') = %4$L ORDER BY (x.vector::vector(%3$s)) <=> $1 LIMIT %5$s';
BEGIN
    IF coalesce(here, '') = '' THEN
        RAISE EXCEPTION 'no namespace is set' USING HINT = 'SET priming.namespace = ''default''';
    END IF;
    IF query IS NULL OR num_nulls(top, spreading_strength, iterations, weight_similarity, weight_activation,
            weight_structural, anchor_top_k_episodes, anchor_top_k_facts, most_links) > 0 THEN
        RAISE EXCEPTION 'every argument of ethos_search must be given, and query be the vector of the cue';
    END IF;
    IF least(top, iterations, anchor_top_k_episodes, anchor_top_k_facts, most_links) < 0
            OR greatest(top, anchor_top_k_episodes, anchor_top_k_facts) > 10000 OR iterations > 10 THEN
        RAISE EXCEPTION 'top and the anchors must be from 0 to 10000, iterations from 0 to 10, most_links 0 or more';
    END IF;
    -- Vectors of another embedder may be beside those that answer: the latest of the size of the cue's are read.
    SELECT g.generation INTO latest FROM generations g WHERE g.namespace = here AND vector_dims(query) =
        (SELECT vector_dims(x.vector) FROM vectors x WHERE x.namespace = here AND x.generation = g.generation LIMIT 1)
        ORDER BY g.generation DESC LIMIT 1;
    IF latest IS NULL AND EXISTS (SELECT FROM vectors x WHERE x.namespace = here) THEN
        RAISE EXCEPTION 'query has % dimensions, and no vectors of the namespace "%" have', vector_dims(query), here
            USING HINT = 'compute it with the embedder that priming status names';
    ELSIF latest IS NULL THEN
        RETURN;
    END IF;
    -- An index gives the nearest of all; those that are forgotten or superseded must not use up the anchors.
    PERFORM set_config('hnsw.iterative_scan', 'strict_order', true);
    EXECUTE 'SELECT array_agg(a.number), array_agg(a.near) FROM ((' ||
        format(nearest, here, latest, vector_dims(query), true, anchor_top_k_episodes) || ') UNION ALL (' ||
        format(nearest, here, latest, vector_dims(query), false, anchor_top_k_facts) || ')) a WHERE a.near > 0'
        INTO nodes, amounts USING query;
    FOR turn IN 1 .. iterations LOOP
        SELECT array_agg(s.node ORDER BY s.node), array_agg(s.amount ORDER BY s.node) INTO nodes, amounts FROM (
            SELECT e.node, sum(e.amount) AS amount FROM (
                SELECT u.node, u.amount FROM unnest(nodes, amounts) AS u(node, amount)
                UNION ALL
                SELECT w.target, u.amount * w.weight * spreading_strength
                FROM unnest(nodes, amounts) AS u(node, amount)
                JOIN ethos_links(nodes, most_links) w ON w.source = u.node
            ) e GROUP BY e.node
        ) s;
    END LOOP;
    RETURN QUERY
        WITH degrees AS (
            SELECT w.target, count(*) AS entering FROM ethos_links(nodes, most_links) w
            WHERE w.source = ANY (nodes) AND w.target = ANY (nodes) GROUP BY w.target
        ), scored AS (
            SELECT m.kind, m.id, m.key, greatest(0, 1 - (x.vector <=> query)) AS near, u.amount,
                coalesce(d.entering, 0) AS entering
            FROM unnest(nodes, amounts) AS u(node, amount)
            JOIN memories m ON m.namespace = here AND m.number = u.node AND m.status = 'active' AND m.kind <> 'entity'
            JOIN versions v ON v.namespace = here AND v.memory = u.node AND v.retired_at IS NULL AND v.valid_to IS NULL
            JOIN vectors x ON x.namespace = here AND x.memory = u.node AND x.version = v.version
                AND x.generation = latest
            LEFT JOIN degrees d ON d.target = u.node
        )
        SELECT s.kind, s.id, s.key,
            weight_similarity * s.near + weight_activation * s.amount
                + weight_structural * coalesce(s.entering::float8 / nullif(max(s.entering) OVER (), 0), 0),
            s.near, s.amount, s.entering
        FROM scored s ORDER BY 4 DESC LIMIT top;
END $$;
