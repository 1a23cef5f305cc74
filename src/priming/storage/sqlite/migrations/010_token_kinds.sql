-- What a token may do (read, write, admin) and until when. Tokens of earlier versions could do everything, and still can.
-- Beside them, the namespaces that nobody may write to. Like tokens they are not in the log.

ALTER TABLE tokens ADD COLUMN kind TEXT NOT NULL DEFAULT 'admin';
ALTER TABLE tokens ADD COLUMN expires_at TEXT;

CREATE TABLE read_only (
    namespace TEXT NOT NULL PRIMARY KEY
) STRICT, WITHOUT ROWID;
