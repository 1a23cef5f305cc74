-- Ethos in SQL: its table of links, and its search. Names between @ stand for lists of `priming.config`.

-- step: short
DROP VIEW IF EXISTS memory_graph_links;
DROP FUNCTION IF EXISTS add_memory_graph_link, ethos_links, ethos_search;

-- Whether links of a relation take activation away, by its name alone, as `sign_of_name` has it.
CREATE FUNCTION takes_by_name(relation TEXT) RETURNS BOOLEAN LANGUAGE sql IMMUTABLE AS $$
    WITH words AS (
        SELECT lower(w.part[1]) AS word, w.place FROM regexp_matches(
            regexp_replace(relation, '(?<=[a-z])n[''’]t\y', ' not', 'gi'),
            '[A-Z]?[a-z\u00AA-\uFFFF]+|[A-Z]+', 'g') WITH ORDINALITY AS w(part, place)
    ), text AS (
        SELECT coalesce(string_agg(word, ' ' ORDER BY place), '') AS said, count(*) AS length FROM words
    ), judged AS (
        SELECT bool_or(word ~ '^(@opposition@)$') OR bool_or(said ~ '@phrases@') AS opposed,
            CASE WHEN bool_or(said ~ '@phrases@') THEN max(length) + 1
                ELSE max(place) FILTER (WHERE word ~ '^(@opposition@|@affirmation@)$') END AS last
        FROM text LEFT JOIN words ON true
    )
    SELECT CASE WHEN relation = ANY (@suppressing@) THEN true WHEN relation = ANY (@built_in@) THEN false ELSE
        (coalesce(opposed, false)::int + (SELECT count(*) FROM regexp_matches(said, '@fails@', 'g'))
            + (SELECT count(*) FROM words WHERE word ~ '^(@negation@)$'
                OR place < coalesce(last, 0) AND word ~ '^(@negative@)$')) % 2 = 1 END
    FROM judged, text
$$;

-- The table of the seed, as a view that takes inserts. Beneath it is a table that has no rows of its own, but those of
-- `graph_links`, which follow `links`. A link inserted is written to `links`, as an operation of the log, which undo takes
-- back; one that exists is strengthened by .1 up to 1, as by the seed's ON CONFLICT, which names the constraint.
CREATE TABLE IF NOT EXISTS inserted_links (
    from_type TEXT COLLATE "C",
    from_id   TEXT COLLATE "C",
    to_type   TEXT COLLATE "C",
    to_id     TEXT COLLATE "C",
    relation  TEXT COLLATE "C" DEFAULT 'similarity',
    weight    DOUBLE PRECISION NOT NULL,
    namespace TEXT COLLATE "C" NOT NULL DEFAULT current_setting('priming.namespace', true),
    UNIQUE (from_type, from_id, to_type, to_id, relation)
);
CREATE TABLE IF NOT EXISTS graph_links (PRIMARY KEY (namespace, from_id, to_id, relation)) INHERITS (inserted_links);
CREATE INDEX graph_links_by_target ON graph_links (namespace, to_id);
ALTER TABLE inserted_links ENABLE ROW LEVEL SECURITY;
ALTER TABLE inserted_links FORCE ROW LEVEL SECURITY;
CREATE POLICY of_namespace ON inserted_links USING (namespace = current_setting('priming.namespace', true));
ALTER TABLE graph_links ALTER COLUMN namespace SET STATISTICS 0;
ALTER TABLE graph_links ENABLE ROW LEVEL SECURITY;
ALTER TABLE graph_links FORCE ROW LEVEL SECURITY;
CREATE POLICY of_namespace ON graph_links USING (namespace = current_setting('priming.namespace', true));

CREATE VIEW memory_graph_links WITH (security_invoker = true) AS
    SELECT from_type, from_id, to_type, to_id, relation, weight FROM inserted_links
    WHERE namespace = current_setting('priming.namespace', true);

-- The seed compares ids with UUIDs.
CREATE FUNCTION is_uuid(id TEXT, other UUID) RETURNS BOOLEAN LANGUAGE sql IMMUTABLE AS 'SELECT id = other::text';
CREATE OPERATOR = (LEFTARG = TEXT, RIGHTARG = UUID, FUNCTION = is_uuid);

CREATE FUNCTION graph_link(link links) RETURNS SETOF inserted_links LANGUAGE sql STABLE AS $$
    SELECT a.kind, a.id, b.kind, b.id, CASE link.relation WHEN 'similar-to' THEN 'similarity' ELSE link.relation END,
        link.weight, link.namespace
    FROM memories a JOIN memories b ON b.namespace = a.namespace AND b.number = link.target
    WHERE a.namespace = link.namespace AND a.number = link.source
$$;
-- With the rights of the owner: who may link memories need not have a right to the seed's table.
CREATE FUNCTION follow_link() RETURNS trigger LANGUAGE plpgsql SECURITY DEFINER SET search_path FROM CURRENT AS $$
BEGIN
    IF TG_OP <> 'INSERT' THEN
        DELETE FROM graph_links g USING graph_link(OLD) o WHERE (g.namespace, g.from_id, g.to_id, g.relation)
            = (o.namespace, o.from_id, o.to_id, o.relation);
    END IF;
    IF TG_OP <> 'DELETE' THEN
        INSERT INTO graph_links SELECT * FROM graph_link(NEW) ON CONFLICT DO NOTHING;
    END IF;
    RETURN NULL;
END $$;
CREATE TRIGGER followed AFTER INSERT OR DELETE OR UPDATE OF weight ON links FOR EACH ROW EXECUTE FUNCTION follow_link();

CREATE FUNCTION refuse_graph_link() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
    IF TG_OP <> 'DELETE' AND NEW.namespace IS DISTINCT FROM current_setting('priming.namespace', true) THEN
        RETURN NEW; -- which the policy refuses
    END IF;
    RAISE EXCEPTION 'links are not changed here'
        USING HINT = 'insert into memory_graph_links; priming undo takes back the operation that made a link';
END $$;

CREATE FUNCTION add_graph_link() RETURNS trigger LANGUAGE plpgsql AS $$
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
    IF NEW.namespace IS DISTINCT FROM here THEN
        RETURN NEW; -- which the policy refuses
    END IF;
    PERFORM pg_advisory_xact_lock(hashtextextended(current_schema() || ' write ' || here, 0));
    SELECT number INTO from_row FROM memories WHERE namespace = here AND id = NEW.from_id;
    SELECT number INTO to_row FROM memories WHERE namespace = here AND id = NEW.to_id;
    IF from_row IS NULL OR to_row IS NULL THEN
        RAISE EXCEPTION 'from_id = %, to_id = %: both must be memories of the namespace "%"', NEW.from_id, NEW.to_id, here
            USING HINT = 'SET LOCAL priming.namespace names the namespace; remember the memories first';
    END IF;
    IF NOT coalesce(NEW.from_type = ANY (@kinds@), true) OR NOT coalesce(NEW.to_type = ANY (@kinds@), true) THEN
        RAISE EXCEPTION 'from_type = %, to_type = %: must be of %', NEW.from_type, NEW.to_type,
            array_to_string(@kinds@, ', ');
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
    INSERT INTO operations (namespace, number, id, kind, at, actor, reason, via)
        VALUES (here, log_row, gen_random_uuid()::text, 'link', moment, current_user, 'inserted into memory_graph_links', 'sql');
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
    RETURN NULL;
END $$;
CREATE TRIGGER added BEFORE INSERT ON inserted_links FOR EACH ROW EXECUTE FUNCTION add_graph_link();

-- The memories that recall reaches now; `answers`: may be found, as names of things and corrections that taught a rule are not.
CREATE VIEW ethos_memories WITH (security_invoker = true) AS
    SELECT m.namespace, m.number, m.id, m.key, m.kind, v.version,
        m.kind <> 'entity' AND NOT (m.kind = 'correction' AND v.metadata IS NOT NULL AND v.metadata::jsonb ? 'right') AS answers
    FROM memories m
    JOIN versions v ON v.namespace = m.namespace AND v.memory = m.number AND v.retired_at IS NULL
    CROSS JOIN (SELECT to_char(now() AT TIME ZONE 'UTC', 'YYYY-MM-DD"T"HH24:MI:SS.US"+00:00"') AS moment) t
    WHERE m.status = 'active' AND coalesce(v.valid_from <= t.moment, true) AND coalesce(v.valid_to > t.moment, true);

-- The strongest links that touch any of these memories, each in every direction in which it acts; `leaves` where it does
-- from its source, `counts` where it adds to the in-degree.
CREATE FUNCTION ethos_links(nodes BIGINT[], most INTEGER)
RETURNS TABLE (source BIGINT, target BIGINT, weight DOUBLE PRECISION, takes BOOLEAN, leaves BOOLEAN, counts BOOLEAN)
LANGUAGE sql STABLE AS $$
    WITH touching AS MATERIALIZED (
        -- A link between two of the memories is listed at both.
        SELECT DISTINCT CASE WHEN l.outgoing THEN a.memory ELSE l.other END AS source,
            CASE WHEN l.outgoing THEN l.other ELSE a.memory END AS target, l.relation, l.weight
        FROM adjacency a CROSS JOIN unnest(a.others, a.relations, a.weights, a.outgoing)
            AS l(other, relation, weight, outgoing)
        JOIN ethos_memories o ON o.namespace = a.namespace AND o.number = l.other
        WHERE a.namespace = current_setting('priming.namespace', true) AND a.memory = ANY (nodes) AND l.weight > 0
            AND l.relation <> ALL (@silent@)
    ), signs AS MATERIALIZED (
        SELECT t.relation, CASE WHEN r.sign IS NULL OR t.relation = ANY (@built_in@) THEN takes_by_name(t.relation)
            ELSE r.sign < 0 END AS takes
        FROM (SELECT DISTINCT relation FROM touching) t
        LEFT JOIN relations r ON r.namespace = current_setting('priming.namespace', true) AND r.relation = t.relation
    ), strongest AS (
        SELECT t.*, s.takes FROM touching t JOIN signs s USING (relation)
        ORDER BY t.weight DESC, least(t.source, t.target), greatest(t.source, t.target), t.relation, t.source
            LIMIT most
    )
    SELECT s.source, s.target, s.weight, s.takes, true, NOT s.takes OR s.relation = ANY (@suppressing@) FROM strongest s
    UNION ALL
    SELECT s.target, s.source, s.weight, s.takes, NOT s.takes, NOT s.takes FROM strongest s
        WHERE s.relation IN ('similar-to', 'conflicts')
$$;

-- Ethos' search: the nearest memories as anchors, three steps over the strongest 500 links of what is active, and its blend;
-- where nothing spreads, cosine alone. It reads the vectors through their index, where a namespace is large enough to have
-- one, and no link beyond those it walks.
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
    nearest CONSTANT TEXT := 'SELECT m.number, m.kind, m.id, m.key, 1 - ((x.vector::vector(%3$s)) <=> $1) AS near'
        ' FROM vectors x JOIN ethos_memories m ON m.namespace = x.namespace AND m.number = x.memory AND m.version = x.version'
        ' WHERE x.namespace = %1$L AND x.generation = %2$s AND m.answers AND %4$s'
        ' ORDER BY (x.vector::vector(%3$s)) <=> $1, m.number LIMIT %5$s';
BEGIN
    IF coalesce(here, '') = '' THEN
        RAISE EXCEPTION 'no namespace is set' USING HINT = 'SET priming.namespace = ''default''';
    END IF;
    IF query IS NULL OR num_nulls(top, spreading_strength, iterations, weight_similarity, weight_activation,
            weight_structural, anchor_top_k_episodes, anchor_top_k_facts, most_links) > 0 THEN
        RAISE EXCEPTION 'every argument of ethos_search must be given, and query be the vector of the cue';
    END IF;
    IF vector_norm(query) = 0 THEN
        RAISE EXCEPTION 'query is 0 throughout: it must be the vector of a cue';
    END IF;
    IF least(top, iterations, anchor_top_k_episodes, anchor_top_k_facts, most_links) < 0
            OR greatest(top, anchor_top_k_episodes, anchor_top_k_facts) > 10000 OR iterations > 10 THEN
        RAISE EXCEPTION 'top and the anchors must be from 0 to 10000, iterations from 0 to 10, most_links 0 or more';
    END IF;
    IF NOT spreading_strength BETWEEN 0 AND 1 THEN
        RAISE EXCEPTION 'spreading_strength = %: must be from 0 to 1', spreading_strength;
    END IF;
    -- Where nothing spreads they blend nothing.
    IF NOT least(weight_similarity, weight_activation, weight_structural) >= 0
            OR NOT greatest(weight_similarity, weight_activation, weight_structural) <= 1
            OR spreading_strength > 0 AND NOT abs(weight_similarity + weight_activation + weight_structural - 1) <= 1e-9 THEN
        RAISE EXCEPTION 'the weights are %, % and %: must be 0 or more, and sum to 1', weight_similarity,
            weight_activation, weight_structural;
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
        format(nearest, here, latest, vector_dims(query), 'm.kind = ''episode''', anchor_top_k_episodes) || ') UNION ALL (' ||
        format(nearest, here, latest, vector_dims(query), 'm.kind <> ''episode''', anchor_top_k_facts) || ')) a WHERE a.near > 0'
        INTO nodes, amounts USING query;
    FOR turn IN 1 .. iterations LOOP
        SELECT array_agg(s.node ORDER BY s.node), array_agg(s.amount ORDER BY s.node) INTO nodes, amounts FROM (
            SELECT e.node, sum(e.amount) AS amount FROM (
                SELECT u.node, u.amount FROM unnest(nodes, amounts) AS u(node, amount)
                UNION ALL
                SELECT w.target, u.amount * w.weight * spreading_strength * CASE WHEN w.takes THEN -1 ELSE 1 END
                FROM unnest(nodes, amounts) AS u(node, amount)
                JOIN ethos_links(nodes, most_links) w ON w.source = u.node
            ) e GROUP BY e.node HAVING sum(e.amount) > 0
        ) s;
    END LOOP;
    IF spreading_strength = 0 OR iterations = 0 OR NOT EXISTS (
            SELECT FROM ethos_links(nodes, most_links) w WHERE w.leaves AND w.source = ANY (nodes)) THEN
        RETURN QUERY EXECUTE 'SELECT a.kind, a.id, a.key, a.near, a.near, 0::float8, 0::bigint FROM (' ||
            format(nearest, here, latest, vector_dims(query), 'true', top) || ') a ORDER BY a.near DESC, a.number' USING query;
        RETURN;
    END IF;
    RETURN QUERY
        WITH degrees AS (
            SELECT w.target, count(*) AS entering FROM ethos_links(nodes, most_links) w
            WHERE w.counts AND w.source = ANY (nodes) AND w.target = ANY (nodes) GROUP BY w.target
        ), scored AS (
            SELECT u.node, u.amount, coalesce(d.entering, 0) AS entering,
                coalesce(d.entering::float8 / nullif(max(d.entering) OVER (), 0), 0) AS share
            FROM unnest(nodes, amounts) AS u(node, amount) LEFT JOIN degrees d ON d.target = u.node
        ), found AS (
            SELECT m.kind, m.id, m.key, m.number, coalesce(greatest(0, 1 - (x.vector <=> query)), 0) AS near,
                s.amount, s.entering, s.share
            FROM scored s
            JOIN ethos_memories m ON m.namespace = here AND m.number = s.node AND m.answers
            LEFT JOIN vectors x ON x.namespace = here AND x.memory = m.number AND x.version = m.version
                AND x.generation = latest
        )
        SELECT f.kind, f.id, f.key,
            round((weight_similarity * f.near + weight_activation * f.amount + weight_structural * f.share)::numeric, 9)::float8,
            f.near, f.amount, f.entering
        FROM found f ORDER BY 4 DESC, f.number LIMIT top;
END $$;

-- step: backfill links (source, relation, target)
INSERT INTO graph_links SELECT g.* FROM batch b
    JOIN links l ON (l.namespace, l.source, l.relation, l.target) = (b.namespace, b.source, b.relation, b.target)
    CROSS JOIN graph_link(l) g ON CONFLICT DO NOTHING;

-- step: short
CREATE TRIGGER refused BEFORE INSERT OR UPDATE OR DELETE ON graph_links
    FOR EACH ROW WHEN (pg_trigger_depth() = 0) EXECUTE FUNCTION refuse_graph_link();
