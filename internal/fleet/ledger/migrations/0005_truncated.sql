-- +goose Up
-- Why the body that is archived is not whole (WARC 1.1, section 5.13): length, time, disconnect, unspecified; NULL if it is.
ALTER TABLE pages ADD COLUMN truncated TEXT;

-- +goose Down
ALTER TABLE pages DROP COLUMN truncated;
