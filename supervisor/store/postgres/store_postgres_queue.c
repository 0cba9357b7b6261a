/* SPDX-License-Identifier: Apache-2.0 */
/*
 * store_postgres_queue.c - a step of PostgreSQL's schema: the tables of the
 * queue that all nodes share. The file has no code: a wrong statement shows in
 * the tests.
 */
#include "supervisor/store/postgres/store_postgres_schema.h"

#define KEY " text COLLATE \"C\" NOT NULL"
#define NUMBER " bigint NOT NULL"
/* Rows come and go: what is dead is cleared away before claims meet it. */
#define SWEPT                                                                  \
	" WITH (autovacuum_vacuum_scale_factor = 0,"                           \
	" autovacuum_vacuum_threshold = 500,"                                  \
	" autovacuum_vacuum_insert_threshold = -1,"                            \
	" autovacuum_analyze_scale_factor = 0,"                                \
	" autovacuum_analyze_threshold = 5000,"                                \
	" autovacuum_vacuum_cost_delay = 0)"

/*
 * queue: runs that wait, for whoever has room. HOME took the request ('': nobody
 * knows more of it than its row), and is the only one that may run it if PINNED.
 * The order is fixed when a run is queued: VTIME is one turn, divided by the
 * requestor's weight, after what that one has waiting, or after queue_clock, which
 * is the largest that was claimed. serves: what each node can run, and for whom.
 * news: who queued a run hears that another has claimed it, and that it is over.
 */
const char store_postgres_queue[] =
    "CREATE SEQUENCE queue_clock MINVALUE 0;"
    "SELECT setval('queue_clock', 0);"
    "CREATE TABLE queue("
    " run" KEY " PRIMARY KEY, requestor" KEY ", digest" KEY ", home" KEY ","
    " pinned" NUMBER ", vtime" NUMBER ", queued_ms" NUMBER ")" SWEPT ";"
    "CREATE INDEX queue_order ON queue(vtime, run);"
    "CREATE INDEX queue_of ON queue(requestor, vtime);"
    "CREATE TABLE serves("
    " node" KEY ", what" KEY ", PRIMARY KEY(node, what));"
    "CREATE TABLE news("
    " run" KEY " PRIMARY KEY, node" KEY ", over" NUMBER ", until_ms" NUMBER ")"
    " WITH (fillfactor = 50);"
    "CREATE INDEX news_to ON news(node);"

    "CREATE FUNCTION runs_over() RETURNS trigger LANGUAGE plpgsql AS $$BEGIN"
    " UPDATE news SET over = 1 WHERE run = new.id;"
    " IF old.status = 0 THEN DELETE FROM queue WHERE run = new.id; END IF;"
    " RETURN NULL; END$$;"
    "CREATE TRIGGER runs_over AFTER UPDATE ON runs FOR EACH ROW"
    " WHEN (old.ended = 0 AND new.ended = 1) EXECUTE FUNCTION runs_over();"
    "UPDATE paddock_schema SET version = 7;";
