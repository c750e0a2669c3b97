-- How far jobs were at times, what requests of nodes came to, and the limit that ended a job.

-- +goose Up
CREATE TABLE samples (
    job        INTEGER NOT NULL, -- 0: all together
    at         INTEGER NOT NULL, -- Unix ms
    fetched    INTEGER NOT NULL,
    pages      INTEGER NOT NULL,
    failed     INTEGER NOT NULL,
    excluded   INTEGER NOT NULL,
    discovered INTEGER NOT NULL,
    bytes      INTEGER NOT NULL,
    held       INTEGER NOT NULL,
    PRIMARY KEY (job, at)
);
ALTER TABLE accounts ADD COLUMN asked INTEGER NOT NULL DEFAULT 0;
ALTER TABLE accounts ADD COLUMN good INTEGER NOT NULL DEFAULT 0;
UPDATE accounts SET
    asked = coalesce((SELECT sum(r.asked) FROM reports r JOIN leases l ON l.id = r.lease WHERE l.node = accounts.node), 0),
    good = coalesce((SELECT sum(r.good) FROM reports r JOIN leases l ON l.id = r.lease WHERE l.node = accounts.node), 0);
ALTER TABLE jobs ADD COLUMN limited TEXT NOT NULL DEFAULT '';

-- +goose Down
ALTER TABLE jobs DROP COLUMN limited;
ALTER TABLE accounts DROP COLUMN good;
ALTER TABLE accounts DROP COLUMN asked;
DROP TABLE samples;
