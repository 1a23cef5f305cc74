-- Who may use a server of this store: a token's namespace ('*': all), and the SHA-256 of its secret. Not in the log:
-- they say nothing of what is remembered, and a backup that is put back must not bring back what was revoked.

CREATE TABLE tokens (
    id         TEXT NOT NULL PRIMARY KEY,
    namespace  TEXT NOT NULL,
    name       TEXT,
    digest     BLOB NOT NULL,
    created_at TEXT NOT NULL,
    revoked_at TEXT,
    used_at    TEXT
) STRICT, WITHOUT ROWID;
