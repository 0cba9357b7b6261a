/* SPDX-License-Identifier: Apache-2.0 */
/*
 * store_postgres_queue.c - a step of PostgreSQL's schema: the tables of the queue that
 * all nodes share. The file has no code: a wrong statement shows in the tests.
 */
#include "supervisor/store/postgres/store_postgres_schema.h"

#define KEY " text COLLATE \"C\" NOT NULL"
#define NUMBER " bigint NOT NULL"
/* Rows come and go: vacuum early, so that claims need not skip dead rows. */
#define SWEPT                                                                  \
	" WITH (autovacuum_vacuum_scale_factor = 0,"                           \
	" autovacuum_vacuum_threshold = 500,"                                  \
	" autovacuum_vacuum_insert_threshold = -1,"                            \
	" autovacuum_analyze_scale_factor = 0,"                                \
	" autovacuum_analyze_threshold = 5000,"                                \
	" autovacuum_vacuum_cost_delay = 0)"

/*
 * queue: waiting runs, for any node with room. HOME received the request ('': only the
 * row is left), and alone may start the run if PINNED. The order is fixed at queueing:
 * VTIME is one turn, divided by the requestor's weight, after the requestor's last
 * waiting run, or after queue_clock, the largest claimed vtime. serves: the templates and
 * requestors that each node serves. news: tells the node that queued a run of the claim
 * and of the end of the run.
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
