-- +goose Up
CREATE TABLE position (
    one    INTEGER PRIMARY KEY CHECK (one = 1),
    stream TEXT    NOT NULL,
    seq    INTEGER NOT NULL
);

CREATE TABLE jobs (
    id       INTEGER PRIMARY KEY,
    state    TEXT    NOT NULL,
    identity TEXT    NOT NULL, -- JSON, secrets never
    limits   TEXT    NOT NULL, -- JSON
    created  INTEGER NOT NULL, -- Unix ms, here and in every other time
    ended    INTEGER
);

CREATE TABLE tasks (
    id         INTEGER PRIMARY KEY,
    job        INTEGER NOT NULL,
    site       TEXT    NOT NULL,
    state      TEXT    NOT NULL,
    discovered INTEGER NOT NULL,
    fetched    INTEGER NOT NULL,
    pages      INTEGER NOT NULL,
    duplicates INTEGER NOT NULL,
    failed     INTEGER NOT NULL,
    excluded   INTEGER NOT NULL,
    pending    INTEGER NOT NULL,
    overflow   INTEGER NOT NULL,
    bytes      INTEGER NOT NULL,
    attempts   INTEGER NOT NULL,
    recalls    INTEGER NOT NULL,
    reasons    TEXT    NOT NULL, -- JSON: reason → count, of failed and excluded
    history    TEXT    NOT NULL  -- JSON: why it was recalled, the last few times
);

CREATE TABLE nodes (
    node        TEXT    NOT NULL,
    incarnation TEXT    NOT NULL,
    first_seen  INTEGER NOT NULL,
    store       TEXT    NOT NULL,
    PRIMARY KEY (node, incarnation)
);

CREATE TABLE leases (
    id          INTEGER PRIMARY KEY,
    job         INTEGER NOT NULL,
    task        INTEGER NOT NULL,
    site        TEXT    NOT NULL,
    node        TEXT    NOT NULL,
    incarnation TEXT    NOT NULL,
    attempt     INTEGER NOT NULL,
    found       INTEGER NOT NULL DEFAULT 0, -- URLs given
    collected   INTEGER NOT NULL DEFAULT 0, -- URLs fetched
    quota       INTEGER NOT NULL,
    budget_ms   INTEGER NOT NULL,
    started     INTEGER NOT NULL,
    ended       INTEGER,
    reason      TEXT
);

CREATE TABLE reports (
    lease    INTEGER NOT NULL,
    part     INTEGER NOT NULL,
    at       INTEGER NOT NULL,
    outcomes INTEGER NOT NULL,
    links    INTEGER NOT NULL,
    bytes    INTEGER NOT NULL,
    final    INTEGER NOT NULL,
    PRIMARY KEY (lease, part)
) WITHOUT ROWID;

CREATE TABLE measurements (
    node  TEXT    NOT NULL,
    kind  TEXT    NOT NULL, -- bc, bs, httpping
    site  TEXT    NOT NULL,
    url   TEXT    NOT NULL,
    store TEXT    NOT NULL,
    value REAL    NOT NULL, -- bit/s, or ms for httpping
    at    INTEGER NOT NULL
);

CREATE TABLE pages (
    job        INTEGER NOT NULL,
    key        BLOB    NOT NULL,
    url        TEXT    NOT NULL,
    surt       TEXT    NOT NULL, -- what the index is sorted by
    state      TEXT    NOT NULL, -- fetched, failed, excluded
    reason     TEXT,
    detail     TEXT,
    status     INTEGER,
    mime       TEXT,
    charset    TEXT,
    html       INTEGER,
    title      TEXT,
    lang       TEXT,
    simhash    INTEGER,
    digest     TEXT,
    revisit    INTEGER,
    noindex    INTEGER,
    bytes      INTEGER,
    links      INTEGER,
    depth      INTEGER,
    redirect   TEXT,
    ip         TEXT,
    proto      TEXT,
    etag       TEXT,
    modified   TEXT,
    warc       TEXT,    -- file of its record
    warc_at    INTEGER,
    warc_len   INTEGER,
    text       TEXT,    -- file of its text
    text_at    INTEGER,
    text_len   INTEGER,
    site       TEXT,
    node       TEXT,
    lease      INTEGER,
    fetched_at INTEGER,
    timing     TEXT,    -- µs: resolve, connect, TLS, send, first byte, body
    product    TEXT,
    keywords   TEXT,
    engine     TEXT,
    score      REAL
);
CREATE UNIQUE INDEX pages_key ON pages (job, key);

CREATE TABLE market_rounds (
    job       INTEGER NOT NULL,
    round     INTEGER NOT NULL,
    at        INTEGER NOT NULL,
    buyers    INTEGER NOT NULL,
    urls      INTEGER NOT NULL,
    prices    TEXT    NOT NULL,
    valuation REAL    NOT NULL,
    PRIMARY KEY (job, round)
);

CREATE VIEW seeds AS
SELECT m.url   AS seed,
       m.node  AS node,
       m.store AS store,
       max(CASE WHEN m.kind = 'bc' THEN m.value END) AS bc,
       max(CASE WHEN m.kind = 'bs' THEN m.value END) AS bs,
       max(m.at) AS at
FROM measurements m
GROUP BY m.url, m.node, m.store;

-- +goose Down
DROP VIEW seeds;
DROP TABLE market_rounds;
DROP TABLE pages;
DROP TABLE measurements;
DROP TABLE reports;
DROP TABLE leases;
DROP TABLE nodes;
DROP TABLE tasks;
DROP TABLE jobs;
DROP TABLE position;
