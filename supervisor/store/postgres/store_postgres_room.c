/* SPDX-License-Identifier: Apache-2.0 */
/*
 * store_postgres_room.c - a step of PostgreSQL's schema: counts how many runs
 * of a requestor wait in the shared queue. The file has no code: a wrong
 * statement shows in the tests.
 */
#include "supervisor/store/postgres/store_postgres_schema.h"

/*
 * paddock_queue_room() tells whether fewer than MOST of WHO's wait beside the run NAME.
 * Until its transaction ends no other counts, so that two that come at once do not both
 * find the last place. A server that holds a lock for long keeps a transaction waiting
 * once, for a tenth of a second: then what is committed is counted all the same.
 */
const char store_postgres_room[] =
    "CREATE FUNCTION paddock_queue_room(who text, most bigint, name text)"
    " RETURNS boolean LANGUAGE plpgsql AS $$BEGIN"
    " FOR i IN 1..20 LOOP"
    "  EXIT WHEN pg_try_advisory_xact_lock(hashtextextended("
    "   'queue ' || current_schema() || ' ' || who, 0))"
    "   OR current_setting('paddock.has_waited', true) = '1';"
    "  PERFORM pg_sleep(0.005);"
    "  IF i = 20 THEN"
    "   PERFORM set_config('paddock.has_waited', '1', true);"
    "  END IF;"
    " END LOOP;"
    " RETURN (SELECT count(*) < most FROM (SELECT 1 FROM queue"
    "  WHERE requestor = who AND run <> name LIMIT most) AS waiting);"
    "END$$;"
    "UPDATE paddock_schema SET version = 16;";
