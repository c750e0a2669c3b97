-- +goose Up
-- Where archives lie of which no node tells any more: the ledger was made anew from them.
CREATE TABLE stores (
    store TEXT PRIMARY KEY
);

-- +goose Down
DROP TABLE stores;
