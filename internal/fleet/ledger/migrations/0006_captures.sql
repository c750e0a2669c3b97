-- +goose Up
-- Answers that are archived beside the pages: robots.txt, and those to requests that were made again.
CREATE TABLE captures (
    job        INTEGER NOT NULL,
    owner      INTEGER NOT NULL,
    gen        INTEGER NOT NULL,
    key        BLOB    NOT NULL, -- of the URL
    url        TEXT    NOT NULL,
    surt       TEXT    NOT NULL, -- what the index is sorted by
    why        TEXT    NOT NULL, -- robots, or the reason why it was asked again
    status     INTEGER NOT NULL,
    mime       TEXT    NOT NULL,
    digest     TEXT    NOT NULL,
    revisit    INTEGER NOT NULL,
    truncated  TEXT    NOT NULL, -- as in pages; empty: it is whole
    bytes      INTEGER NOT NULL,
    warc       TEXT    NOT NULL, -- file of its record
    warc_at    INTEGER NOT NULL,
    warc_len   INTEGER NOT NULL,
    site       TEXT    NOT NULL,
    node       TEXT    NOT NULL,
    lease      INTEGER NOT NULL,
    fetched_at INTEGER NOT NULL,
    PRIMARY KEY (job, warc, warc_at)
);

-- +goose Down
DROP TABLE captures;
