-- +goose Up
-- What was expected of a page before it was fetched, and how many pages of a task are on the job's topic. The score of a page itself
-- has stood in pages from the beginning.
ALTER TABLE pages ADD COLUMN expected REAL;
ALTER TABLE tasks ADD COLUMN relevant INTEGER NOT NULL DEFAULT 0;

-- +goose Down
ALTER TABLE tasks DROP COLUMN relevant;
ALTER TABLE pages DROP COLUMN expected;
