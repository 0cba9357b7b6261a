/* SPDX-License-Identifier: Apache-2.0 */
/*
 * store_postgres_residents.c - a step of PostgreSQL's schema: the node on which each
 * resident lives. The file has no code: a wrong statement shows in the tests.
 */
#include "supervisor/store/postgres/store_postgres_schema.h"

#define TEXT " text COLLATE \"C\""
#define KEY TEXT " NOT NULL"
#define NUMBER " bigint NOT NULL"

/*
 * residents: RESIDENT is TEMPLATE/NAME, as in the queue for a run of the resident. Only
 * NODE may have the process; '': no node has, and LOST is the reason why the last state
 * was lost. ENDING: 1, a client of another node asks for the end; 2, the requestor needs
 * the room; 3, the node refused the end, since the resident is in use. VIEW: as shown by
 * the node. A node that is gone, by whatever way, leaves lost states alone.
 */
const char store_postgres_residents[] =
    "CREATE TABLE residents("
    " requestor" KEY ", resident" KEY ", node" KEY ", lost" TEXT ","
    " ending" NUMBER " DEFAULT 0, view" TEXT ", at_ms" NUMBER ","
    " PRIMARY KEY(requestor, resident)) WITH (fillfactor = 70);"
    "CREATE INDEX residents_of ON residents(node);"
    "ALTER TABLE queue ADD COLUMN resident" KEY " DEFAULT '';"
    "CREATE FUNCTION residents_die() RETURNS trigger LANGUAGE plpgsql AS $$BEGIN"
    " UPDATE residents SET node = '', lost = 'its node died', ending = 0,"
    " view = NULL, at_ms = paddock_now() WHERE node = old.id;"
    " RETURN NULL; END$$;"
    "CREATE TRIGGER residents_die AFTER DELETE ON node FOR EACH ROW"
    " EXECUTE FUNCTION residents_die();"
    "UPDATE paddock_schema SET version = 17;";
