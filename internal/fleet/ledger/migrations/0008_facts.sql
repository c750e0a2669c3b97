-- +goose Up
-- What a part of a report says of its pair of node and site, so that a recorded crawl can be simulated (argosy lab replay).
ALTER TABLE reports ADD COLUMN seq INTEGER NOT NULL DEFAULT 0;
ALTER TABLE reports ADD COLUMN ord INTEGER NOT NULL DEFAULT 0;
ALTER TABLE reports ADD COLUMN worked_us INTEGER NOT NULL DEFAULT 0;
ALTER TABLE reports ADD COLUMN bits INTEGER NOT NULL DEFAULT 0;
ALTER TABLE reports ADD COLUMN good INTEGER NOT NULL DEFAULT 0;
ALTER TABLE reports ADD COLUMN asked INTEGER NOT NULL DEFAULT 0;
ALTER TABLE reports ADD COLUMN limited INTEGER NOT NULL DEFAULT 0;
ALTER TABLE reports ADD COLUMN cpu REAL NOT NULL DEFAULT 0;
ALTER TABLE reports ADD COLUMN memory REAL NOT NULL DEFAULT 0;

-- A lease that measures or resolves: its work is not for pages.
ALTER TABLE leases ADD COLUMN probe INTEGER NOT NULL DEFAULT 0;

ALTER TABLE measurements ADD COLUMN seq INTEGER NOT NULL DEFAULT 0;
ALTER TABLE measurements ADD COLUMN ord INTEGER NOT NULL DEFAULT 0;
ALTER TABLE measurements ADD COLUMN seconds REAL NOT NULL DEFAULT 0;
ALTER TABLE measurements ADD COLUMN limited INTEGER NOT NULL DEFAULT 0;

-- The strategy that a job ran with last, with its options.
CREATE TABLE strategies (
    job      INTEGER PRIMARY KEY,
    strategy TEXT    NOT NULL
);

-- Nodes as they described themselves last.
CREATE TABLE fleet (
    node TEXT    PRIMARY KEY,
    info TEXT    NOT NULL, -- JSON
    came INTEGER NOT NULL, -- Unix ms
    gone INTEGER           -- NULL: it was there when this was written
);

-- +goose Down
DROP TABLE fleet;
DROP TABLE strategies;
ALTER TABLE measurements DROP COLUMN limited;
ALTER TABLE measurements DROP COLUMN seconds;
ALTER TABLE measurements DROP COLUMN ord;
ALTER TABLE measurements DROP COLUMN seq;
ALTER TABLE leases DROP COLUMN probe;
ALTER TABLE reports DROP COLUMN memory;
ALTER TABLE reports DROP COLUMN cpu;
ALTER TABLE reports DROP COLUMN limited;
ALTER TABLE reports DROP COLUMN asked;
ALTER TABLE reports DROP COLUMN good;
ALTER TABLE reports DROP COLUMN bits;
ALTER TABLE reports DROP COLUMN worked_us;
ALTER TABLE reports DROP COLUMN ord;
ALTER TABLE reports DROP COLUMN seq;
