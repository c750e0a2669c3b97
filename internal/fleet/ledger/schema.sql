-- What all migrations together make of an empty file. Written by go test ./internal/fleet/ledger -run NewIsMigrated -schema.write
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
, name TEXT NOT NULL DEFAULT '', placement TEXT NOT NULL DEFAULT '{}', limited TEXT NOT NULL DEFAULT '');

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
, relevant INTEGER NOT NULL DEFAULT 0);

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
, epoch INTEGER NOT NULL DEFAULT 0, secret TEXT NOT NULL DEFAULT '', parts INTEGER NOT NULL DEFAULT 0, probe INTEGER NOT NULL DEFAULT 0, search INTEGER, asks INTEGER, engine TEXT, product TEXT, about TEXT, keywords TEXT, type TEXT, existing INTEGER, stated TEXT);

CREATE TABLE reports (
    lease    INTEGER NOT NULL,
    part     INTEGER NOT NULL,
    at       INTEGER NOT NULL,
    outcomes INTEGER NOT NULL,
    links    INTEGER NOT NULL,
    bytes    INTEGER NOT NULL,
    final    INTEGER NOT NULL, seq INTEGER NOT NULL DEFAULT 0, ord INTEGER NOT NULL DEFAULT 0, worked_us INTEGER NOT NULL DEFAULT 0, bits INTEGER NOT NULL DEFAULT 0, good INTEGER NOT NULL DEFAULT 0, asked INTEGER NOT NULL DEFAULT 0, limited INTEGER NOT NULL DEFAULT 0, cpu REAL NOT NULL DEFAULT 0, memory REAL NOT NULL DEFAULT 0,
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
, to_node TEXT NOT NULL DEFAULT '', seq INTEGER NOT NULL DEFAULT 0, ord INTEGER NOT NULL DEFAULT 0, seconds REAL NOT NULL DEFAULT 0, limited INTEGER NOT NULL DEFAULT 0, job INTEGER NOT NULL DEFAULT 0);

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
, seq INTEGER NOT NULL DEFAULT 0, ord INTEGER NOT NULL DEFAULT 0, owner INTEGER NOT NULL DEFAULT 0, gen INTEGER NOT NULL DEFAULT 0, truncated TEXT, expected REAL);

CREATE VIEW seeds AS
SELECT m.url   AS seed,
       m.node  AS node,
       m.store AS store,
       max(CASE WHEN m.kind = 'bc' THEN m.value END) AS bc,
       max(CASE WHEN m.kind = 'bs' THEN m.value END) AS bs,
       max(m.at) AS at
FROM measurements m
GROUP BY m.url, m.node, m.store;

CREATE TABLE accounts (
    node       TEXT    PRIMARY KEY,
    store      TEXT    NOT NULL DEFAULT '',
    seen       INTEGER NOT NULL DEFAULT 0, -- Unix ms
    present_ms INTEGER NOT NULL DEFAULT 0,
    working_ms INTEGER NOT NULL DEFAULT 0,
    cost       REAL    NOT NULL DEFAULT 0,
    pages      INTEGER NOT NULL DEFAULT 0,
    bytes      INTEGER NOT NULL DEFAULT 0
, asked INTEGER NOT NULL DEFAULT 0, good INTEGER NOT NULL DEFAULT 0);

CREATE TABLE demand (
    nodes INTEGER PRIMARY KEY,
    ms    INTEGER NOT NULL DEFAULT 0
);

CREATE UNIQUE INDEX pages_key ON pages (job, owner, gen, key);

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

CREATE TABLE strategies (
    job      INTEGER PRIMARY KEY,
    strategy TEXT    NOT NULL
);

CREATE TABLE fleet (
    node TEXT    PRIMARY KEY,
    info TEXT    NOT NULL, -- JSON
    came INTEGER NOT NULL, -- Unix ms
    gone INTEGER           -- NULL: it was there when this was written
);

CREATE TABLE orders (
    seq  INTEGER NOT NULL, -- of the entry in the log
    at   INTEGER NOT NULL, -- Unix ms
    who  TEXT    NOT NULL,
    what TEXT    NOT NULL, once TEXT NOT NULL DEFAULT '', sum TEXT NOT NULL DEFAULT '', undone INTEGER NOT NULL DEFAULT 0,
    PRIMARY KEY (at, seq)
);

CREATE TABLE ended (
    job  INTEGER PRIMARY KEY,
    urls INTEGER NOT NULL,
    sum  INTEGER NOT NULL
);

CREATE TABLE markets (
    job       INTEGER NOT NULL,
    market    INTEGER NOT NULL, -- from 1
    at        INTEGER NOT NULL, -- Unix ms
    ran_ms    INTEGER NOT NULL, -- how long the job had run
    learned   INTEGER NOT NULL, -- pages that had been learned from when what was offered was valued: the scorer's version
    crawlers  TEXT    NOT NULL, -- JSON: each before the market
    rounds    INTEGER NOT NULL, -- of the auction; lots: bids
    took_over INTEGER NOT NULL, -- round after which the exact rule took over; 0: it did not
    worth     REAL    NOT NULL, -- of what was got, to those who got it
    bidden    TEXT,             -- JSON: the lots that were bidden for round by round
    prices    TEXT,             -- JSON: their prices, by round
    PRIMARY KEY (job, market)
);

CREATE TABLE lots (
    job     INTEGER NOT NULL,
    market  INTEGER NOT NULL,
    lot     INTEGER NOT NULL, -- from 0
    seller  INTEGER NOT NULL, -- a crawler, from 1
    buyer   INTEGER,          -- NULL: nobody
    site    TEXT    NOT NULL,
    url     TEXT    NOT NULL, -- the first
    urls    INTEGER NOT NULL,
    worth   TEXT    NOT NULL, -- JSON: to each crawler
    reserve REAL    NOT NULL,
    price   REAL    NOT NULL,
    PRIMARY KEY (job, market, lot)
);

CREATE TABLE stores (
    store TEXT PRIMARY KEY
);

CREATE INDEX pages_reported ON pages (job, seq, ord);

CREATE TABLE ledger (
    one INTEGER PRIMARY KEY CHECK (one = 1),
    id  TEXT NOT NULL
);

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

CREATE INDEX orders_once ON orders (once) WHERE once <> '';

CREATE TABLE absences (
    node TEXT    NOT NULL,
    gone INTEGER NOT NULL, -- Unix ms
    came INTEGER NOT NULL,
    PRIMARY KEY (node, gone)
);
