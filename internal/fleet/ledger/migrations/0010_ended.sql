-- +goose Up
-- What pages have ended of a job, in two numbers (crawl.Ended): compared with the frontier's before the job is called done. A job
-- without a row is counted when it is asked for.
CREATE TABLE ended (
    job  INTEGER PRIMARY KEY,
    urls INTEGER NOT NULL,
    sum  INTEGER NOT NULL
);

-- +goose Down
DROP TABLE ended;
