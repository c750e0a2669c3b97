-- +goose Up
-- For how long so many nodes were at work at once: what a reservation is judged by.
CREATE TABLE demand (
    nodes INTEGER PRIMARY KEY,
    ms    INTEGER NOT NULL DEFAULT 0
);

-- +goose Down
DROP TABLE demand;
