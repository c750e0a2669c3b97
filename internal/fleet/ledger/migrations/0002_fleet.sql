-- +goose Up
-- What a part of a lease is believed by.
ALTER TABLE leases ADD COLUMN epoch INTEGER NOT NULL DEFAULT 0;
ALTER TABLE leases ADD COLUMN secret TEXT NOT NULL DEFAULT '';
ALTER TABLE leases ADD COLUMN parts INTEGER NOT NULL DEFAULT 0;

-- A httpping to another node.
ALTER TABLE measurements ADD COLUMN to_node TEXT NOT NULL DEFAULT '';

ALTER TABLE jobs ADD COLUMN name TEXT NOT NULL DEFAULT '';
ALTER TABLE jobs ADD COLUMN placement TEXT NOT NULL DEFAULT '{}';

-- Orders pages as they were reported: seq is the entry of the log, ord the place in it.
ALTER TABLE pages ADD COLUMN seq INTEGER NOT NULL DEFAULT 0;
ALTER TABLE pages ADD COLUMN ord INTEGER NOT NULL DEFAULT 0;

-- What nodes cost and have earned.
CREATE TABLE accounts (
    node       TEXT    PRIMARY KEY,
    store      TEXT    NOT NULL DEFAULT '',
    seen       INTEGER NOT NULL DEFAULT 0, -- Unix ms
    present_ms INTEGER NOT NULL DEFAULT 0,
    working_ms INTEGER NOT NULL DEFAULT 0,
    cost       REAL    NOT NULL DEFAULT 0,
    pages      INTEGER NOT NULL DEFAULT 0,
    bytes      INTEGER NOT NULL DEFAULT 0
);

-- +goose Down
DROP TABLE accounts;
