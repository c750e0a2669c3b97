-- With which keys orders were given that are done once.

-- +goose Up
ALTER TABLE orders ADD COLUMN once TEXT NOT NULL DEFAULT '';
ALTER TABLE orders ADD COLUMN sum TEXT NOT NULL DEFAULT '';
ALTER TABLE orders ADD COLUMN undone INTEGER NOT NULL DEFAULT 0;
CREATE INDEX orders_once ON orders (once) WHERE once <> '';

-- +goose Down
DROP INDEX orders_once;
ALTER TABLE orders DROP COLUMN undone;
ALTER TABLE orders DROP COLUMN sum;
ALTER TABLE orders DROP COLUMN once;
