/* SPDX-License-Identifier: Apache-2.0 */
/*
 * store_postgres_epoch.c - a step of PostgreSQL's schema: separates the numbers
 * of a node's writes from the row of the node's heartbeat. The file has no
 * code: a wrong statement shows in the tests.
 */
#include "supervisor/store/postgres/store_postgres_schema.h"

#define KEY " text COLLATE \"C\" NOT NULL"
#define NUMBER " bigint NOT NULL"
#define ZERO NUMBER " DEFAULT 0"

/*
 * A transaction that writes locks the node's row in epoch until the end, however long the
 * transaction waits for a lock on runs; the heartbeat locks the row in node, and waits
 * only for a node that takes over. A take-over locks both rows.
 */
const char store_postgres_epoch[] =
    "CREATE TABLE epoch("
    " node" KEY " PRIMARY KEY REFERENCES node(id) ON DELETE CASCADE,"
    " slot" NUMBER ", batch" ZERO ", barrier" ZERO ") WITH (fillfactor = 50,"
    " autovacuum_vacuum_scale_factor = 0,"
    " autovacuum_vacuum_threshold = 2000,"
    " autovacuum_analyze_scale_factor = 0,"
    " autovacuum_analyze_threshold = 20000,"
    " autovacuum_vacuum_cost_delay = 0);"
    "INSERT INTO epoch SELECT id, slot, batch, barrier FROM node;"
    "CREATE FUNCTION node_joined() RETURNS trigger LANGUAGE plpgsql AS $$BEGIN"
    " INSERT INTO epoch(node, slot) VALUES(new.id, new.slot);"
    " RETURN NULL; END$$;"
    "CREATE TRIGGER node_joined AFTER INSERT ON node FOR EACH ROW"
    " EXECUTE FUNCTION node_joined();"
    "DROP TRIGGER node_writes ON node;"
    "ALTER TABLE node DROP COLUMN batch, DROP COLUMN barrier;"
    "CREATE TRIGGER node_writes BEFORE UPDATE OF batch ON epoch FOR EACH ROW"
    " EXECUTE FUNCTION node_writes();"
    "CREATE OR REPLACE FUNCTION paddock_write(name text, number bigint)"
    " RETURNS void LANGUAGE plpgsql AS $$BEGIN"
    " UPDATE epoch SET batch = number"
    "  WHERE node = name AND batch < number AND barrier < number;"
    " IF NOT FOUND AND EXISTS (SELECT 1 FROM epoch WHERE node = name) THEN"
    "  RAISE EXCEPTION 'this has arrived too late' USING ERRCODE = 'PD002';"
    " ELSIF NOT FOUND THEN RAISE EXCEPTION 'another server has taken over what"
    " this one had' USING ERRCODE = 'PD001'; END IF; END$$;"
    "CREATE OR REPLACE FUNCTION paddock_settle(name text, number bigint)"
    " RETURNS bigint LANGUAGE plpgsql AS $$DECLARE was bigint; BEGIN"
    " UPDATE epoch SET barrier = greatest(barrier, number) WHERE node = name"
    "  RETURNING batch INTO was;"
    " RETURN was; END$$;"
    "UPDATE paddock_schema SET version = 15;";
