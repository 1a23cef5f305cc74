-- No statistics of namespaces. From them PostgreSQL concludes that a namespace younger than its last ANALYZE has a row or
-- none, and then reads all of it for each row that is asked for. Without them it expects the same part of a table of each.
-- SQLite's schema of this number gives vectors checksums; PostgreSQL has those of its pages.

DO $$
DECLARE
    named TEXT;
BEGIN
    FOREACH named IN ARRAY ARRAY['memories', 'versions', 'generations', 'vectors', 'links', 'adjacency', 'verdicts', 'pairs',
        'runs', 'weights', 'relations', 'operations', 'changes', 'touched', 'traces', 'activations', 'loop_sessions'] LOOP
        EXECUTE format('ALTER TABLE %I ALTER COLUMN namespace SET STATISTICS 0', named);
    END LOOP;
END $$;
