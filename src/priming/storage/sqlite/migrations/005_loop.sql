-- Sessions of the loop: an objective and all that was done about it, as JSON. Not in the log: a session says how far a
-- piece of work got, and what it taught is in the log by itself. One that names a memory goes when that is purged.

CREATE TABLE loop_sessions (
    namespace  TEXT NOT NULL,
    id         TEXT NOT NULL,
    parent     TEXT,
    state      TEXT NOT NULL,
    objective  TEXT NOT NULL,
    created_at TEXT NOT NULL,
    updated_at TEXT NOT NULL,
    body       TEXT NOT NULL,
    PRIMARY KEY (namespace, id)
) STRICT;
