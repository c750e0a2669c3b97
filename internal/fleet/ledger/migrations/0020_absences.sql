-- When nodes of the fleet were gone that came back.

-- +goose Up
CREATE TABLE absences (
    node TEXT    NOT NULL,
    gone INTEGER NOT NULL, -- Unix ms
    came INTEGER NOT NULL,
    PRIMARY KEY (node, gone)
);

-- +goose Down
DROP TABLE absences;
