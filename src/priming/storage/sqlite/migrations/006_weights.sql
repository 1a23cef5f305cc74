-- The weights that a namespace gives to the terms of a profile, where they differ from the profile's own: JSON by name.
-- A row of the log like any other.

CREATE TABLE weights (
    namespace TEXT NOT NULL REFERENCES namespaces,
    profile   TEXT NOT NULL,
    weights   TEXT,
    PRIMARY KEY (namespace, profile)
) STRICT, WITHOUT ROWID;
