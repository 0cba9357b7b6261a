/* SPDX-License-Identifier: Apache-2.0 */
/*
 * store_postgres_schema.c - PostgreSQL's tables, indexes and triggers by
 * version of the schema, and the macros of store_statements.def for PostgreSQL.
 * store_postgres.c executes and prepares the statements. The file has no code:
 * a wrong statement shows in the tests, which are the same for each engine.
 */
#include "supervisor/store/postgres/store_postgres_schema.h"

/* Compare texts by bytes, as in SQLite: then ids are in the order of time. */
#define TEXT " text COLLATE \"C\""
#define KEY TEXT " NOT NULL"
#define NUMBER " bigint NOT NULL"
#define ZERO NUMBER " DEFAULT 0"

#define ADD_COUNT(row)                                                         \
	" INSERT INTO counts VALUES(" row ".requestor, " row                   \
	".template_id, " row                                                   \
	".status, 1) ON CONFLICT (requestor, template_id, status)"             \
	" DO UPDATE SET n = counts.n + 1;"
#define TAKE_COUNT(row)                                                        \
	" UPDATE counts SET n = n - 1 WHERE requestor = " row ".requestor"     \
	" AND template_id = " row ".template_id AND status = " row ".status;"
#define ADD_USAGE(row, artifact, bytes)                                        \
	" INSERT INTO usage VALUES(" row ".requestor, " artifact ", " bytes    \
	")"                                                                    \
	" ON CONFLICT (requestor) DO UPDATE SET"                               \
	" artifact_bytes = usage.artifact_bytes + excluded.artifact_bytes,"    \
	" row_bytes = usage.row_bytes + excluded.row_bytes;"
#define ADD_USED(row, runs_, cpu, bytes_)                                      \
	" UPDATE used SET runs = runs + " runs_ ", cpu_ms = cpu_ms + " cpu     \
	", bytes = bytes + " bytes_ " WHERE requestor = " row ".requestor"     \
	" AND template_id = " row ".template_id"                               \
	" AND hour = " row ".created_ms / 3600000;"
/* find the run of an artifact */
#define ADD_USED_OF(row, bytes_)                                               \
	" UPDATE used SET bytes = used.bytes + " bytes_ " FROM runs AS r"      \
	" WHERE r.requestor = " row ".requestor AND r.id = " row ".run_id"     \
	" AND used.requestor = r.requestor"                                    \
	" AND used.template_id = r.template_id"                                \
	" AND used.hour = r.created_ms / 3600000;"

/*
 * Version 7 of the SQLite schema, and the table node: an instance lives as long as the
 * heartbeat in the row is fresh, by the database's clock. paddock_write() begins a write
 * of an instance: a take-over removes the row, and then the instance may not write. The
 * number of the batch tells after a lost connection whether the batch was committed.
 */
static const char first[] =
    "CREATE TABLE node("
    " id" KEY " PRIMARY KEY,"
    " batch" NUMBER ","
    " heartbeat_ms" NUMBER ") WITH (fillfactor = 50);"
    "CREATE FUNCTION paddock_now() RETURNS bigint LANGUAGE sql AS"
    " 'SELECT (extract(epoch FROM clock_timestamp()) * 1000)::bigint';"
    "CREATE FUNCTION paddock_beat(name text) RETURNS boolean"
    " LANGUAGE plpgsql AS $$BEGIN"
    " PERFORM set_config('synchronous_commit', 'off', true);"
    " UPDATE node SET heartbeat_ms = paddock_now() WHERE id = name;"
    " RETURN FOUND; END$$;"
    "CREATE FUNCTION paddock_write(name text, number bigint) RETURNS void"
    " LANGUAGE plpgsql AS $$BEGIN"
    " UPDATE node SET batch = number, heartbeat_ms = paddock_now()"
    "  WHERE id = name;"
    " IF NOT FOUND THEN RAISE EXCEPTION 'another server has taken over what"
    " this one had' USING ERRCODE = 'PD001'; END IF; END$$;"

    "CREATE TABLE runs("
    " id" KEY ","
    " requestor" KEY ","
    " template_id" KEY ","
    " version" KEY ","
    " digest" KEY ","
    " instance" KEY ","
    " status" NUMBER " CHECK(status BETWEEN 0 AND 5),"
    " created_ms" NUMBER ","
    " started_ms" NUMBER ","
    " updated_ms" NUMBER ","
    " finished_ms" NUMBER ","
    " expires_ms" NUMBER ","
    " ended" NUMBER "," /* is status one of the final states? */
    " idem_key" TEXT ","
    " idem_digest" TEXT ","
    " inputs" TEXT ","
    " options" TEXT ","
    " view" TEXT ","
    " log" TEXT ","
    " cancelling" ZERO ","
    " task" ZERO ","
    " task_ttl_ms" ZERO ","
    " task_expires_ms" ZERO ","
    " task_note" TEXT ","
    " retried_from" TEXT ","
    " inputs_lack" TEXT ","
    " bytes" ZERO ","
    " cpu_ms" ZERO ","
    " PRIMARY KEY(requestor, id));"
    "CREATE INDEX runs_open ON runs(requestor, status, id, template_id)"
    " WHERE ended = 0;"
    "CREATE INDEX runs_owner ON runs(instance) WHERE ended = 0;"
    "CREATE INDEX runs_ended ON runs(requestor, status, id)"
    " WHERE ended = 1;"
    "CREATE INDEX runs_template ON runs(requestor, template_id, status, id)"
    " WHERE ended = 1;"
    "CREATE INDEX runs_of_template ON runs(requestor, template_id, id);"
    "CREATE UNIQUE INDEX runs_idem ON runs(requestor, template_id, idem_key)"
    " WHERE idem_key IS NOT NULL;"
    "CREATE INDEX runs_expiry ON runs(expires_ms) WHERE expires_ms > 0;"
    "CREATE INDEX runs_tasks ON runs(requestor, id)"
    " WHERE task_expires_ms > 0;"
    "CREATE INDEX runs_task_expiry ON runs(task_expires_ms)"
    " WHERE task_expires_ms > 0;"

    "CREATE TABLE counts("
    " requestor" KEY ", template_id" KEY ", status" NUMBER ", n" NUMBER ","
    " PRIMARY KEY(requestor, template_id, status))"
    " WITH (fillfactor = 70);"
    "CREATE TABLE usage("
    " requestor" KEY " PRIMARY KEY,"
    " artifact_bytes" NUMBER ", row_bytes" ZERO ") WITH (fillfactor = 70);"
    "CREATE TABLE used("
    " requestor" KEY ", template_id" KEY ", hour" NUMBER ", runs" NUMBER ","
    " cpu_ms" NUMBER ", bytes" NUMBER ","
    " PRIMARY KEY(requestor, template_id, hour)) WITH (fillfactor = 70);"
    "CREATE INDEX used_hours ON used(hour);"

    "CREATE TABLE artifacts("
    " id" KEY " PRIMARY KEY,"
    " run_id" KEY ","
    " requestor" KEY ","
    " name" KEY ","
    " mime_type" KEY ","
    " sha256" KEY ","
    " size" NUMBER " CHECK(size >= 0),"
    " created_ms" NUMBER ","
    " expires_ms" NUMBER ","
    " gone" ZERO ");" /* the bytes are gone */
    "CREATE INDEX artifacts_run ON artifacts(run_id);"
    "CREATE INDEX artifacts_expiry ON artifacts(expires_ms)"
    " WHERE gone = 0 AND expires_ms > 0;"

    "CREATE TABLE mail("
    " run" KEY ", kind" NUMBER ", instance" KEY ", until_ms" NUMBER ","
    " PRIMARY KEY(run, kind));"
    "CREATE INDEX mail_to ON mail(instance);"
    "CREATE TABLE shown("
    " run" KEY " PRIMARY KEY, requestor" KEY ", awaiting" NUMBER ","
    " until_ms" NUMBER ", log_until_ms" NUMBER ", seq" NUMBER ","
    " log_seq" NUMBER ", note" TEXT ", view" TEXT ", log" TEXT ");"

    "CREATE TABLE sessions("
    " key" KEY " PRIMARY KEY, requestor" KEY ", credential" KEY ","
    " revision" KEY ", client" KEY ", uris" KEY ", log_level" NUMBER ","
    " used_ms" NUMBER ", expires_ms" NUMBER ");"
    "CREATE INDEX sessions_of ON sessions(requestor, used_ms);"
    "CREATE INDEX sessions_used ON sessions(used_ms);"
    "CREATE INDEX sessions_expiry ON sessions(expires_ms);"

    "CREATE FUNCTION runs_added() RETURNS trigger LANGUAGE plpgsql AS $$BEGIN" ADD_COUNT("new") ADD_USAGE(
	"new", "0",
	"new.bytes") " INSERT INTO used VALUES(new.requestor, new.template_id,"
		     " new.created_ms / 3600000, 1, new.cpu_ms, new.bytes)"
		     " ON CONFLICT (requestor, template_id, hour) DO UPDATE SET"
		     " runs = used.runs + 1, cpu_ms = used.cpu_ms + excluded.cpu_ms,"
		     " bytes = used.bytes + excluded.bytes;"
		     " RETURN NULL; END$$;"
		     "CREATE FUNCTION runs_moved() RETURNS trigger LANGUAGE plpgsql AS $$BEGIN"
		     " IF old.status <> new.status OR old.template_id <> new.template_id THEN" TAKE_COUNT("old") ADD_COUNT(
			 "new") " END IF;"
				" IF old.bytes <> new.bytes THEN"
				" UPDATE usage SET row_bytes = row_bytes + new.bytes - old.bytes"
				"  WHERE requestor = new.requestor;"
				" END IF;"
				" IF old.bytes <> new.bytes OR old.cpu_ms <> new.cpu_ms THEN" ADD_USED(
				    "new", "0", "new.cpu_ms - old.cpu_ms",
				    "new.bytes - old.bytes") " END IF;"
							     " IF old.ended = 0 AND new.ended = 1 THEN"
							     " DELETE FROM mail WHERE run = new.id;"
							     " DELETE FROM shown WHERE run = new.id;"
							     " END IF;"
							     " RETURN NULL; END$$;"
							     "CREATE FUNCTION runs_removed() RETURNS trigger LANGUAGE plpgsql"
							     " AS $$BEGIN" TAKE_COUNT(
								 "old") " UPDATE usage SET row_bytes = row_bytes - old.bytes"
									"  WHERE requestor = old.requestor;" ADD_USED(
									    "old",
									    "0",
									    "0",
									    "- old.bytes") " RETURN NULL; END$$;"
											   "CREATE TRIGGER runs_added AFTER INSERT ON runs FOR EACH ROW"
											   " EXECUTE FUNCTION runs_added();"
											   "CREATE TRIGGER runs_moved AFTER UPDATE ON runs FOR EACH ROW"
											   " EXECUTE FUNCTION runs_moved();"
											   "CREATE TRIGGER runs_removed AFTER DELETE ON runs FOR EACH ROW"
											   " EXECUTE FUNCTION runs_removed();"

											   "CREATE FUNCTION artifacts_added() RETURNS trigger LANGUAGE plpgsql"
											   " AS $$BEGIN" ADD_USAGE(
											       "new",
											       "new.size",
											       "0")
											       ADD_USED_OF(
												   "new",
												   "new.size") " RETURN NULL; END$$;"
													       "CREATE FUNCTION artifacts_gone() RETURNS trigger LANGUAGE plpgsql"
													       " AS $$BEGIN"
													       " UPDATE usage SET artifact_bytes = artifact_bytes - old.size"
													       "  WHERE requestor = old.requestor;" ADD_USED_OF(
														   "old",
														   "- old.size") " RETURN NULL; END$$;"
																 "CREATE TRIGGER artifacts_added AFTER INSERT ON artifacts FOR EACH ROW"
																 " EXECUTE FUNCTION artifacts_added();"
																 "CREATE TRIGGER artifacts_gone AFTER UPDATE ON artifacts FOR EACH ROW"
																 " WHEN (old.gone = 0 AND new.gone = 1)"
																 " EXECUTE FUNCTION artifacts_gone();"
																 "CREATE TRIGGER artifacts_removed AFTER DELETE ON artifacts FOR EACH ROW"
																 " WHEN (old.gone = 0) EXECUTE FUNCTION artifacts_gone();"
																 "UPDATE paddock_schema SET version = 1;";

/* Version 8 of the SQLite schema: an upload belongs to no run. */
static const char uploads[] =
    "ALTER TABLE artifacts ADD COLUMN upload" ZERO ";"
    "UPDATE artifacts SET upload = 1 WHERE substr(run_id, 1, 3) = 'up_';"
    "CREATE INDEX artifacts_own ON artifacts(requestor, id) WHERE gone = 0;"
    "CREATE INDEX uploads ON artifacts(requestor, id)"
    " WHERE upload = 1 AND gone = 0;"
    "CREATE INDEX uploads_over ON artifacts(expires_ms)"
    " WHERE upload = 1 AND gone = 1;"
    "INSERT INTO used SELECT requestor, '', created_ms / 3600000, count(*), 0,"
    " sum(CASE gone WHEN 0 THEN size ELSE 0 END) FROM artifacts"
    " WHERE upload = 1 GROUP BY 1, 2, 3;"
    "CREATE FUNCTION uploads_added() RETURNS trigger LANGUAGE plpgsql"
    " AS $$BEGIN"
    " INSERT INTO used VALUES(new.requestor, '', new.created_ms / 3600000,"
    "  1, 0, new.size) ON CONFLICT (requestor, template_id, hour) DO UPDATE"
    "  SET runs = used.runs + 1, bytes = used.bytes + excluded.bytes;"
    " RETURN NULL; END$$;"
    "CREATE FUNCTION uploads_gone() RETURNS trigger LANGUAGE plpgsql"
    " AS $$BEGIN"
    " UPDATE used SET bytes = bytes - old.size WHERE requestor = old.requestor"
    "  AND template_id = '' AND hour = old.created_ms / 3600000;"
    " RETURN NULL; END$$;"
    "CREATE TRIGGER uploads_added AFTER INSERT ON artifacts FOR EACH ROW"
    " WHEN (new.upload = 1) EXECUTE FUNCTION uploads_added();"
    "CREATE TRIGGER uploads_gone AFTER UPDATE ON artifacts FOR EACH ROW"
    " WHEN (old.gone = 0 AND new.gone = 1 AND old.upload = 1)"
    " EXECUTE FUNCTION uploads_gone();"
    "CREATE TRIGGER uploads_removed AFTER DELETE ON artifacts FOR EACH ROW"
    " WHEN (old.gone = 0 AND old.upload = 1) EXECUTE FUNCTION uploads_gone();"
    "UPDATE paddock_schema SET version = 2;";

/*
 * A node has a name, a load, and a lease, which is ten seconds except in tests. A
 * heartbeat returns the node's own row, and rows of nodes without a fresh heartbeat,
 * which the caller compares with earlier observations (store_postgres_node.c).
 */
static const char nodes[] =
    "ALTER TABLE node ADD COLUMN node_name" KEY " DEFAULT '',"
    " ADD COLUMN version" KEY " DEFAULT '',"
    " ADD COLUMN started_ms" ZERO ","
    " ADD COLUMN lease_ms" NUMBER " DEFAULT 10000,"
    " ADD COLUMN running" ZERO ","
    " ADD COLUMN queued" ZERO ","
    " ADD COLUMN draining" ZERO ";"
    "DROP FUNCTION paddock_beat(text);"
    "CREATE FUNCTION paddock_beat(name_ text, running_ bigint, queued_ bigint,"
    " draining_ bigint)"
    " RETURNS TABLE(node_id text, beat_ms bigint, lease bigint, at_ms bigint)"
    " LANGUAGE plpgsql AS $$DECLARE now_ms bigint := paddock_now(); BEGIN"
    " PERFORM set_config('synchronous_commit', 'off', true);"
    " UPDATE node SET heartbeat_ms = now_ms, running = running_,"
    "  queued = queued_, draining = draining_ WHERE id = name_;"
    " RETURN QUERY SELECT id, heartbeat_ms, lease_ms, now_ms FROM node"
    "  WHERE id = name_ OR heartbeat_ms NOT BETWEEN now_ms - 1200"
    "  AND now_ms + 1200; END$$;"
    "UPDATE paddock_schema SET version = 3;";

/*
 * Bytes of artifacts. Parts named in artifact_litter belong to no artifact: not
 * yet, while the writer goes on, or no longer.
 */
static const char chunks[] =
    "CREATE TABLE artifact_chunk("
    " id" KEY ", part" NUMBER ", data bytea NOT NULL,"
    " PRIMARY KEY(id, part));"
    /*
     * no compression, since a range is read from within, and much data is
     * compressed already
     */
    "ALTER TABLE artifact_chunk ALTER data SET STORAGE EXTERNAL;"
    "CREATE TABLE artifact_litter("
    " id" KEY " PRIMARY KEY, instance" KEY ", since_ms" NUMBER ");"
    "CREATE INDEX artifact_litter_since ON artifact_litter(since_ms);"
    "CREATE FUNCTION paddock_drop_chunks(artifact text) RETURNS void"
    " LANGUAGE plpgsql AS $$BEGIN"
    " IF EXISTS (SELECT 1 FROM artifact_chunk WHERE id = artifact"
    "  AND part >= 4) THEN"
    "  INSERT INTO artifact_litter VALUES(artifact, '', paddock_now())"
    "   ON CONFLICT (id) DO NOTHING;"
    " ELSE DELETE FROM artifact_chunk WHERE id = artifact; END IF; END$$;"
    "CREATE FUNCTION paddock_sweep_chunks() RETURNS boolean"
    " LANGUAGE plpgsql AS $$DECLARE one text; gone bigint; BEGIN"
    " SELECT l.id INTO one FROM artifact_litter AS l WHERE l.instance = ''"
    "  OR l.since_ms < paddock_now() - 600000 OR NOT EXISTS"
    "   (SELECT 1 FROM node WHERE node.id = l.instance)"
    "  ORDER BY l.since_ms LIMIT 1 FOR UPDATE SKIP LOCKED;"
    " IF NOT FOUND THEN RETURN false; END IF;"
    " UPDATE artifact_litter SET instance = '' WHERE id = one;"
    " DELETE FROM artifact_chunk WHERE id = one AND part IN"
    "  (SELECT part FROM artifact_chunk WHERE id = one LIMIT 32);"
    " GET DIAGNOSTICS gone = ROW_COUNT;"
    " IF gone < 32 THEN DELETE FROM artifact_litter WHERE id = one; END IF;"
    " RETURN true; END$$;"
    "UPDATE paddock_schema SET version = 4;";

/* The common sealing key of all nodes. */
static const char seals[] =
    "CREATE TABLE secret(name" KEY " PRIMARY KEY, value" KEY ");"
    "UPDATE paddock_schema SET version = 5;";

/*
 * Statements sent on a connection that ended may still arrive. A transaction is refused
 * whose number is not above the last committed number and the last number asked for.
 */
static const char numbers[] =
    "CREATE OR REPLACE FUNCTION paddock_write(name text, number bigint)"
    " RETURNS void LANGUAGE plpgsql AS $$BEGIN"
    " UPDATE node SET batch = number, heartbeat_ms = paddock_now()"
    "  WHERE id = name AND batch < number;"
    " IF NOT FOUND AND EXISTS (SELECT 1 FROM node WHERE id = name) THEN"
    "  RAISE EXCEPTION 'this has arrived too late' USING ERRCODE = 'PD002';"
    " ELSIF NOT FOUND THEN RAISE EXCEPTION 'another server has taken over what"
    " this one had' USING ERRCODE = 'PD001'; END IF; END$$;"
    /*
     * returns the number of the last committed transaction, and refuses numbers
     * up to NUMBER
     */
    "CREATE FUNCTION paddock_settle(name text, number bigint)"
    " RETURNS bigint LANGUAGE plpgsql AS $$DECLARE was bigint; BEGIN"
    " SELECT batch INTO was FROM node WHERE id = name FOR UPDATE;"
    " UPDATE node SET batch = number WHERE id = name AND batch < number;"
    " RETURN was; END$$;"
    "UPDATE paddock_schema SET version = 6;";

/* Questions of a run to clients, which may be connected to any node, and the answers. */
static const char questions[] = "ALTER TABLE shown ADD COLUMN asked" TEXT ";"
				"ALTER TABLE mail ADD COLUMN body" TEXT ";"
				"UPDATE paddock_schema SET version = 8;";

/*
 * A node reports room for further runs. paddock_wake() wakes a node: transactions with
 * NOTIFY commit one after another, so the commit does not wait for the disk.
 */
static const char wakes[] =
    "ALTER TABLE node ADD COLUMN room" ZERO ";"
    "CREATE FUNCTION paddock_beat(name_ text, running_ bigint, queued_ bigint,"
    " draining_ bigint, room_ bigint)"
    " RETURNS TABLE(node_id text, beat_ms bigint, lease bigint, at_ms bigint)"
    " LANGUAGE plpgsql AS $$DECLARE now_ms bigint := paddock_now(); BEGIN"
    " PERFORM set_config('synchronous_commit', 'off', true);"
    " UPDATE node SET heartbeat_ms = now_ms, running = running_,"
    "  queued = queued_, draining = draining_, room = room_ WHERE id = name_;"
    " RETURN QUERY SELECT id, heartbeat_ms, lease_ms, now_ms FROM node"
    "  WHERE id = name_ OR heartbeat_ms NOT BETWEEN now_ms - 1200"
    "  AND now_ms + 1200; END$$;"
    "CREATE FUNCTION paddock_wake(node text, what text) RETURNS void"
    " LANGUAGE plpgsql AS $$BEGIN"
    " PERFORM set_config('synchronous_commit', 'off', true);"
    " PERFORM set_config('lock_timeout', '100', true);"
    " PERFORM pg_notify(node, what); END$$;"
    "UPDATE paddock_schema SET version = 11;";

/*
 * Undelivered mail is counted by requestor; and mail to a node is deleted with the node.
 */
static const char messages[] =
    "ALTER TABLE mail ADD COLUMN requestor" KEY " DEFAULT '';"
    "CREATE INDEX mail_of ON mail(requestor) WHERE kind >= 16;"
    "CREATE FUNCTION node_leaves() RETURNS trigger LANGUAGE plpgsql AS $$BEGIN"
    " DELETE FROM mail WHERE instance = old.id"
    "  AND run = '" STORE_MESSAGE_TO_SESSION "'; RETURN NULL; END$$;"
    "CREATE TRIGGER node_leaves AFTER DELETE ON node FOR EACH ROW"
    " EXECUTE FUNCTION node_leaves();"
    "UPDATE paddock_schema SET version = 12;";

/*
 * The name of the node at which a run has last begun, since that node's row may be gone.
 */
static const char run_nodes[] = "ALTER TABLE runs ADD COLUMN node" TEXT ";"
				"UPDATE paddock_schema SET version = 13;";

/* Grants that clients proposed, of any state; at most STORE_PROPOSALS_MAX rows. */
static const char proposals[] =
    "CREATE TABLE IF NOT EXISTS proposals("
    " id" KEY " PRIMARY KEY, requestor" KEY ", template_id" KEY ","
    " digest" KEY ", body" KEY ", made_ms" NUMBER ", expires_ms" NUMBER ","
    " approved_ms" NUMBER ");"
    "UPDATE paddock_schema SET version = 22;";

/* The queue has the number of callers above each run: deep runs may use lent places. */
static const char queue_depths[] =
    "ALTER TABLE queue ADD COLUMN IF NOT EXISTS depth" ZERO ";"
    "UPDATE paddock_schema SET version = 23;";

/* A step adds a column of store_columns.def. */
#define ADD_COLUMN(t, n, name, kind, type, sqlite, version, ...)               \
	[version - 1] =                                                        \
	    "ALTER TABLE runs ADD COLUMN IF NOT EXISTS " #name ADDED_##kind    \
	    ";UPDATE paddock_schema SET version = " #version ";",
#define ADDED_TEXT TEXT
#define ADDED_TIME ZERO
#define ADDED_INT ZERO
#define ADDED_FLAG ZERO

const char *const store_postgres_steps[STORE_POSTGRES_VERSION] = {
    first,
    uploads,
    nodes,
    chunks,
    seals,
    numbers,
    store_postgres_queue,
    questions,
    store_postgres_days,
    store_postgres_share,
    wakes,
    messages,
    run_nodes,
    store_postgres_barrier,
    store_postgres_epoch,
    store_postgres_room,
    store_postgres_residents,
    STORE_RUN_ADDED(ADD_COLUMN, )[20] =
	STORE_JOURNAL_INDEX "UPDATE paddock_schema SET version = 21;",
    [21] = proposals,
    [22] = queue_depths};

/* Macros of store_statements.def, as PostgreSQL needs them. */
#define BEGIN_WRITING "BEGIN"
#define BY(index) ""
#define UNINDEXED ""
#define SHOWN_ASKED "shown.asked"
#define SHOWN_NODE "(SELECT node_name FROM node WHERE node.id = runs.instance)"
#define NODE_ROWS                                                               \
	"SELECT id, node_name, version, started_ms, running, queued, draining," \
	" paddock_now() - heartbeat_ms FROM node ORDER BY node_name, id"
/* also nodes without a run that have no fresh heartbeat */
#define AND_SILENT                                                             \
	" UNION SELECT id FROM node WHERE heartbeat_ms"                        \
	" NOT BETWEEN paddock_now() - 1200 AND paddock_now() + 1200"
#define ROW "ctid"
#define RUN "requestor, id"
/* Read the rows in an index's order: a join would read all rows of a day. */
#define PICKED HEAD("") ", node" ADDED
/* A page has the name of the node of each run, and no bulk columns. */
#define PAGED HEAD("page.") ", NULL, NULL, NULL, NULL, NULL,"
#define PAGE(pick)                                                             \
	"SELECT " PAGED                                                        \
	" CASE WHEN page.status > 0 THEN page.node END" STORE_RUN_ADDED(       \
	    NAMED,                                                             \
	    "page.") " FROM (" pick                                            \
		     " ORDER BY id DESC LIMIT ?3 OFFSET ?4) AS page ORDER BY page.id DESC"
#define HAS_KEY(template_id_, key)                                             \
	"id = (SELECT run FROM idem WHERE requestor = ?1"                      \
	" AND template_id = " template_id_ " AND key = " key ")"
#define EXPIRED(now_ms, n) "paddock_expired(" now_ms ", " n ")"
#define REST_AFTER(n) " OFFSET " n
#define GREATER "greatest"
#define ANY_OF_TEMPLATE PICK("", "template_id = ?2")
#define FLAG(condition) "CAST((" condition ") AS int)"
#define BYTES_OF(text) "octet_length(" text ")"
/* Another instance may have claimed the run since. */
#define IF_OURS " WHERE runs.instance = excluded.instance"
/* A message of each requestor, then the next of each, up to a bound. */
#define AND_MESSAGES                                                               \
	" UNION ALL SELECT run, kind, until_ms, body, requestor FROM"              \
	" (SELECT *, row_number() OVER w AS at, sum(size) OVER w - size AS"        \
	" before FROM (SELECT *, octet_length(body) AS size, row_number() OVER"    \
	" (PARTITION BY requestor ORDER BY until_ms, kind) AS turn FROM mail"      \
	" WHERE instance = ?1 AND kind >= 16) AS waiting"                          \
	" WINDOW w AS (ORDER BY turn, requestor, kind ROWS UNBOUNDED"              \
	" PRECEDING)) AS in_turn WHERE ?2 = 1"                                     \
	" AND at <= " STORE_TEXT(STORE_MESSAGES_READ) " AND before < " STORE_TEXT( \
	    STORE_MESSAGE_BYTES_READ)
/* kinds as in enum store_mail */
#define AND_NEWS                                                               \
	" UNION ALL SELECT run, 4 + over, until_ms, NULL, NULL FROM news"      \
	" WHERE node = ?1"                                                     \
	" UNION ALL SELECT '', 5 + ending, at_ms, resident, requestor"         \
	" FROM residents WHERE node = ?1 AND ending IN (1, 2)"
/*
 * Lock the row, since otherwise the end of the run, which deletes mail, might
 * miss mail that is written at the same time.
 */
#define UNTIL_IT_ENDS " FOR SHARE"
/* rows written without the lock */
#define OR_OF_NONE                                                             \
	" OR (kind < 16 AND NOT EXISTS (SELECT 1 FROM runs"                    \
	" WHERE ended = 0 AND runs.id = mail.run))"
#define SHARED(...) __VA_ARGS__
/* PostgreSQL's log has rows, not pages, so staging gains nothing */
#define STAGED(...) "SELECT 0"

const char *const store_postgres_statements[STORE_STMTS] = {
#define STORE_STMT(name, ...) [STMT_##name] = __VA_ARGS__,
#include "supervisor/store/store_statements.def"
};
