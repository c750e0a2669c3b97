-- +goose Up
-- Whose page it is, and of which crawl of the job: 0 as long as nobody asks for more.
ALTER TABLE pages ADD COLUMN owner INTEGER NOT NULL DEFAULT 0;
ALTER TABLE pages ADD COLUMN gen INTEGER NOT NULL DEFAULT 0;
DROP INDEX pages_key;
CREATE UNIQUE INDEX pages_key ON pages (job, owner, gen, key);

-- +goose Down
DROP INDEX pages_key;
CREATE UNIQUE INDEX pages_key ON pages (job, key);
ALTER TABLE pages DROP COLUMN gen;
ALTER TABLE pages DROP COLUMN owner;
