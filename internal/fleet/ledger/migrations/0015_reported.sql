-- Pages in the order in which they were reported, which people and the API see them in.

-- +goose Up
CREATE INDEX pages_reported ON pages (job, seq, ord);

-- +goose Down
DROP INDEX pages_reported;
