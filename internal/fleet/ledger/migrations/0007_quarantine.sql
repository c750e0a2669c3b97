-- +goose Up
-- Entries of nodes that the database would not take, for what they say.
CREATE TABLE quarantine (
    seq     INTEGER NOT NULL, -- of the entry in the log
    at      INTEGER NOT NULL,
    node    TEXT    NOT NULL,
    why     TEXT    NOT NULL, -- the database's words
    pages   INTEGER NOT NULL, -- that the entry had ended, and that are pending again
    entry   BLOB    NOT NULL, -- what the leader says of it (crawl.Aside)
    settled INTEGER,          -- the leader's entry that has said so
    PRIMARY KEY (seq)
);

-- +goose Down
DROP TABLE quarantine;
