-- +goose Up
-- Markets between the crawlers of a job, and what was offered in them, from the log.
DROP TABLE market_rounds; -- nothing ever wrote it
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

-- +goose Down
DROP TABLE lots;
DROP TABLE markets;
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
