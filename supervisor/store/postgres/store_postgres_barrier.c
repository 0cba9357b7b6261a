/* SPDX-License-Identifier: Apache-2.0 */
/*
 * store_postgres_barrier.c - a step of PostgreSQL's schema: how a node finds
 * out whether a commit without an answer took effect. The file has no code: a
 * wrong statement shows in the tests.
 */
#include "supervisor/store/postgres/store_postgres_schema.h"

#define ZERO " bigint NOT NULL DEFAULT 0"

/*
 * batch is the number of the last committed transaction, and nothing else; a transaction
 * with a number up to barrier is refused from now on. A node that asks twice, since the
 * first connection for the question was lost as well, gets the same answer:
 * paddock_settle() does not read barrier, which it writes.
 */
const char store_postgres_barrier[] =
    "ALTER TABLE node ADD COLUMN barrier" ZERO ";"
    "CREATE OR REPLACE FUNCTION paddock_write(name text, number bigint)"
    " RETURNS void LANGUAGE plpgsql AS $$BEGIN"
    " UPDATE node SET batch = number, heartbeat_ms = paddock_now()"
    "  WHERE id = name AND batch < number AND barrier < number;"
    " IF NOT FOUND AND EXISTS (SELECT 1 FROM node WHERE id = name) THEN"
    "  RAISE EXCEPTION 'this has arrived too late' USING ERRCODE = 'PD002';"
    " ELSIF NOT FOUND THEN RAISE EXCEPTION 'another server has taken over what"
    " this one had' USING ERRCODE = 'PD001'; END IF; END$$;"
    "CREATE OR REPLACE FUNCTION paddock_settle(name text, number bigint)"
    " RETURNS bigint LANGUAGE plpgsql AS $$DECLARE was bigint; BEGIN"
    " UPDATE node SET barrier = greatest(barrier, number) WHERE id = name"
    "  RETURNING batch INTO was;"
    " RETURN was; END$$;"
    "UPDATE paddock_schema SET version = 14;";
