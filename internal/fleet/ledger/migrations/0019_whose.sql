-- The job of whose lease a measurement is; 0: a node made it by itself. Reports are written behind what was measured in their parts.

-- +goose Up
ALTER TABLE measurements ADD COLUMN job INTEGER NOT NULL DEFAULT 0;
CREATE INDEX reports_behind ON reports (seq, ord);
UPDATE measurements SET job = coalesce((SELECT l.job FROM reports r JOIN leases l ON l.id = r.lease
    WHERE r.seq = measurements.seq AND r.ord > measurements.ord ORDER BY r.ord LIMIT 1), 0)
WHERE site <> '' AND seq > 0;
DROP INDEX reports_behind;

-- +goose Down
ALTER TABLE measurements DROP COLUMN job;
