-- +goose Up
-- Tells this ledger from others: a coordinator refuses one that is not its fleet's.
CREATE TABLE ledger (
    one INTEGER PRIMARY KEY CHECK (one = 1),
    id  TEXT NOT NULL
);

-- +goose Down
DROP TABLE ledger;
