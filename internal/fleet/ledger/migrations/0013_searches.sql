-- +goose Up
-- What a lease of a virtual task was for: the search, and its parameters. Of leases that ask for result pages, existing is what the
-- engine states, and stated what that number means.
ALTER TABLE leases ADD COLUMN search INTEGER;
ALTER TABLE leases ADD COLUMN asks INTEGER;
ALTER TABLE leases ADD COLUMN engine TEXT;
ALTER TABLE leases ADD COLUMN product TEXT;
ALTER TABLE leases ADD COLUMN about TEXT;
ALTER TABLE leases ADD COLUMN keywords TEXT;
ALTER TABLE leases ADD COLUMN type TEXT;
ALTER TABLE leases ADD COLUMN existing INTEGER;
ALTER TABLE leases ADD COLUMN stated TEXT;

-- +goose Down
ALTER TABLE leases DROP COLUMN stated;
ALTER TABLE leases DROP COLUMN existing;
ALTER TABLE leases DROP COLUMN type;
ALTER TABLE leases DROP COLUMN keywords;
ALTER TABLE leases DROP COLUMN about;
ALTER TABLE leases DROP COLUMN product;
ALTER TABLE leases DROP COLUMN engine;
ALTER TABLE leases DROP COLUMN asks;
ALTER TABLE leases DROP COLUMN search;
