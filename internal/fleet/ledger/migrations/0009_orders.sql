-- +goose Up
-- What people and programs have asked the coordinator for, from the log.
CREATE TABLE orders (
    seq  INTEGER NOT NULL, -- of the entry in the log
    at   INTEGER NOT NULL, -- Unix ms
    who  TEXT    NOT NULL,
    what TEXT    NOT NULL,
    PRIMARY KEY (at, seq)
);

-- +goose Down
DROP TABLE orders;
