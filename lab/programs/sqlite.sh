# SPDX-License-Identifier: MIT
# The same statements on a database in memory and on one on disk.
need() { require sqlite3; }

statements() {
    cat <<SQL
PRAGMA cache_size = -8000;
CREATE TABLE item(id INTEGER PRIMARY KEY, kind INTEGER, name TEXT, body TEXT);
BEGIN;
WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n WHERE i < $(of 40000 400000))
INSERT INTO item SELECT i, (i * 7919) % 997, printf('name %06d', (i * 104729) % 100003),
    substr('abcdefghijklmnopqrstuvwxyzabcdefghijklmnopqrstuvwxyz', 1 + i % 26, i % 27) || i FROM n;
COMMIT;
CREATE INDEX by_kind ON item(kind, name);
CREATE INDEX by_name ON item(name);
SELECT kind, count(*), max(name), sum(length(body)) FROM item GROUP BY kind ORDER BY 2 DESC, 1 LIMIT 20;
SELECT count(*) FROM item a JOIN item b ON a.name = b.name WHERE a.id < b.id;
UPDATE item SET body = body || body || name WHERE kind % 3 = 0;
DELETE FROM item WHERE kind % 5 = 0;
CREATE TABLE word AS SELECT DISTINCT substr(body, 1, 4) AS w, group_concat(id) AS ids FROM item GROUP BY 1;
SELECT count(*), sum(length(ids)) FROM word;
SELECT json_group_array(name) FROM (SELECT name FROM item ORDER BY body DESC, id LIMIT 200);
SELECT id, name, row_number() OVER (PARTITION BY kind ORDER BY name, id) AS r FROM item ORDER BY r DESC, id LIMIT 10;
VACUUM;
PRAGMA integrity_check;
SQL
}

input() { statements >work.sql; }

work() {
    rm -f work.db
    measured sqlite3 -bail :memory: <work.sql
    measured sqlite3 -bail work.db <work.sql
}
