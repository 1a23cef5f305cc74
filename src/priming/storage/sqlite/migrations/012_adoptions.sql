-- The stamps of the machines that made or adopted this store, each for a place of it. A store that a folder brings has
-- none of this machine, and is data from an untrusted source until its user adopts it.

CREATE TABLE adoptions (
    stamp TEXT NOT NULL PRIMARY KEY
) STRICT, WITHOUT ROWID;
