/* SPDX-License-Identifier: Apache-2.0 */
/*
 * store_postgres_days.c - a step of PostgreSQL's schema: partitions of runs by
 * the day in the ids, which the sweep makes ahead and drops whole, and counters
 * with rows for each server. store_postgres_open.c executes the step; the
 * functions change nothing when a lock is not granted in time, and the next
 * sweep tries again.
 */
#include "supervisor/store/postgres/store_postgres_schema.h"

#define TEXT " text COLLATE \"C\""
#define KEY TEXT " NOT NULL"
#define NUMBER " bigint NOT NULL"
#define ZERO NUMBER " DEFAULT 0"

/*
 * Only a single server of the schema at a time; false: another server is at
 * work.
 */
#define ALONE(what)                                                            \
	"pg_try_advisory_xact_lock(hashtextextended('paddock " what            \
	" ' || current_schema(), 0))"

/* The rows to add: a SELECT, or VALUES. */
#define ADD_COUNTS(rows)                                                       \
	" INSERT INTO counts(requestor, template_id, status, n, slot) " rows   \
	" ON CONFLICT (requestor, template_id, status, slot)"                  \
	" DO UPDATE SET n = counts.n + excluded.n"
#define ADD_USAGE(rows)                                                        \
	" INSERT INTO usage(requestor, artifact_bytes, row_bytes, slot) " rows \
	" ON CONFLICT (requestor, slot) DO UPDATE SET"                         \
	" artifact_bytes = usage.artifact_bytes + excluded.artifact_bytes,"    \
	" row_bytes = usage.row_bytes + excluded.row_bytes"
#define ADD_USED(rows)                                                         \
	" INSERT INTO used(requestor, template_id, hour, runs, cpu_ms, bytes," \
	" slot) " rows                                                         \
	" ON CONFLICT (requestor, template_id, hour, slot) DO UPDATE SET"      \
	" runs = used.runs + excluded.runs,"                                   \
	" cpu_ms = used.cpu_ms + excluded.cpu_ms,"                             \
	" bytes = used.bytes + excluded.bytes"
#define COUNT_OF(row, n)                                                       \
	ADD_COUNTS("VALUES(" row ".requestor, " row ".template_id, " row       \
		   ".status, " n ", mine)")                                    \
	";"
#define USAGE_OF(row, artifact, bytes)                                         \
	ADD_USAGE("VALUES(" row ".requestor, " artifact ", " bytes ", mine)")  \
	";"
#define USED_OF(row, template, runs, cpu, bytes)                               \
	ADD_USED("VALUES(" row                                                 \
		 ".requestor, " template ", " row                              \
					 ".created_ms / 3600000, " runs        \
					 ", " cpu ", " bytes ", mine)")        \
	";"
/* Find the run of an artifact. */
#define USED_BY_RUN(row, bytes)                                                \
	ADD_USED("SELECT r.requestor, r.template_id, r.created_ms / 3600000,"  \
		 " 0, 0, " bytes ", mine FROM runs AS r WHERE r.requestor"     \
		 " = " row ".requestor AND r.id = " row ".run_id")             \
	";"
#define TRIGGER(name, body)                                                    \
	"CREATE OR REPLACE FUNCTION " name "() RETURNS trigger"                \
	" LANGUAGE plpgsql AS $$DECLARE mine bigint := paddock_slot();"        \
	" BEGIN" body " RETURN NULL; END$$;"

/*
 * A table without partitions makes each idempotency key unique across all
 * partitions.
 */
#define TAKE_KEY                                                               \
	" INSERT INTO idem VALUES(new.requestor, new.template_id,"             \
	" new.idem_key, new.id);"
#define DROP_KEY " DELETE FROM idem WHERE run = old.id;"

/* Execute TEXT with the name of a day's partition in place of %I. */
#define OF_DAY(text, into) " EXECUTE format('" text "', d.name) INTO " into ";"
#define LAST                                                                   \
	OF_DAY("SELECT max(expires_ms) FROM %I WHERE expires_ms > 0", "last")
#define LIVE                                                                   \
	OF_DAY("SELECT EXISTS (SELECT 1 FROM %I WHERE expires_ms = 0)", "live")
#define KEEPS_FILES(when)                                                      \
	"EXISTS (SELECT 1 FROM artifacts WHERE run_id >= d.from_id"            \
	" AND run_id < d.to_id AND gone = 0 " when ")"

/*
 * A table with few rows that change all the time: dead versions must be
 * vacuumed soon.
 */
#define HOT(table)                                                             \
	"ALTER TABLE " table " SET (fillfactor = 50,"                          \
	" autovacuum_vacuum_scale_factor = 0,"                                 \
	" autovacuum_vacuum_threshold = 2000,"                                 \
	" autovacuum_analyze_scale_factor = 0,"                                \
	" autovacuum_analyze_threshold = 20000,"                               \
	" autovacuum_vacuum_cost_delay = 0);"

const char store_postgres_days[] =
    /*
     * A server adds only to rows of the server's own slot. With shared rows, servers that
     * execute runs of a single requestor would wait for each other's commits, and deadlock.
     * Readers sum the rows. A slot is the least free number, so that the number of rows is
     * the largest number of servers at once; paddock_write(), which begins each write,
     * publishes the slot.
     */
    "ALTER TABLE node ADD COLUMN slot" ZERO ";"
    "CREATE FUNCTION node_joins() RETURNS trigger LANGUAGE plpgsql AS $$BEGIN"
    " PERFORM pg_advisory_xact_lock(hashtextextended('paddock slot '"
    "  || current_schema(), 0));"
    " new.slot := (SELECT min(n) FROM generate_series(1, (SELECT count(*) + 1"
    " FROM node)) AS n WHERE NOT EXISTS (SELECT 1 FROM node WHERE slot = n));"
    " RETURN new; END$$;"
    "CREATE TRIGGER node_joins BEFORE INSERT ON node FOR EACH ROW"
    " EXECUTE FUNCTION node_joins();"
    "CREATE FUNCTION node_writes() RETURNS trigger LANGUAGE plpgsql AS $$BEGIN"
    " PERFORM set_config('paddock.slot', new.slot::text, true);"
    " RETURN new; END$$;"
    "CREATE TRIGGER node_writes BEFORE UPDATE OF batch ON node FOR EACH ROW"
    " EXECUTE FUNCTION node_writes();"
    "CREATE FUNCTION paddock_slot() RETURNS bigint LANGUAGE sql STABLE AS"
    " $$SELECT coalesce(nullif(current_setting('paddock.slot', true), ''),"
    " '0')::bigint$$;"

    "ALTER TABLE counts ADD COLUMN slot" ZERO ", DROP CONSTRAINT counts_pkey,"
    " ADD PRIMARY KEY(requestor, template_id, status, slot);"
    "ALTER TABLE usage ADD COLUMN slot" ZERO ", DROP CONSTRAINT usage_pkey,"
    " ADD PRIMARY KEY(requestor, slot);"
    "ALTER TABLE used ADD COLUMN slot" ZERO ", DROP CONSTRAINT used_pkey,"
    " ADD PRIMARY KEY(requestor, template_id, hour, slot);"

    TRIGGER("runs_added",
	    COUNT_OF("new", "1") USAGE_OF("new", "0", "new.bytes") USED_OF(
		"new", "new.template_id", "1", "new.cpu_ms",
		"new.bytes") " IF new.idem_key IS NOT NULL THEN" TAKE_KEY
			     " END IF;")
	TRIGGER(
	    "runs_moved",
	    " IF old.status <> new.status OR old.template_id <> new.template_id"
	    " THEN" COUNT_OF("old", "-1") COUNT_OF(
		"new",
		"1") " END IF;"
		     " IF old.bytes <> new.bytes THEN" USAGE_OF(
			 "new", "0",
			 "new.bytes - old.bytes") " END IF;"
						  " IF old.bytes <> new.bytes OR old.cpu_ms <> new.cpu_ms"
						  " THEN" USED_OF(
						      "new", "new.template_id",
						      "0",
						      "new.cpu_ms - old.cpu_ms",
						      "new.bytes - old.bytes") " END IF;"
									       " IF old.ended = 0 AND new.ended = 1 THEN"
									       " DELETE FROM mail WHERE run = new.id;"
									       " DELETE FROM shown WHERE run = new.id;"
									       " END IF;"
									       " IF old.idem_key IS DISTINCT FROM new.idem_key THEN" DROP_KEY
									       " IF new.idem_key IS NOT NULL THEN" TAKE_KEY
									       " END IF; END IF;")
	    TRIGGER("runs_removed",
		    COUNT_OF("old", "-1") USAGE_OF("old", "0", "- old.bytes")
			USED_OF("old", "old.template_id", "0", "0",
				"- old.bytes") " IF old.idem_key IS NOT NULL"
					       " THEN" DROP_KEY " END IF;")
		TRIGGER("artifacts_added", USAGE_OF("new", "new.size", "0")
					       USED_BY_RUN("new", "new.size"))
		    TRIGGER("artifacts_gone",
			    USAGE_OF("old", "- old.size", "0")
				USED_BY_RUN("old", "- old.size"))
			TRIGGER("uploads_added",
				USED_OF("new", "''", "1", "0", "new.size"))
			    TRIGGER("uploads_gone", USED_OF("old", "''", "0",
							    "0", "- old.size"))

    /*
     * The existing table becomes the default partition, for ids without a day: older
     * rows, and rows of a day without a partition. Triggers and indexes of the existing
     * table are created again for all partitions.
     */
    "DO $$DECLARE t record; d text; defs text[] := '{}'; BEGIN"
    " FOR t IN SELECT tgname, pg_get_triggerdef(oid) AS def FROM pg_trigger"
    " WHERE tgrelid = 'runs'::regclass AND NOT tgisinternal LOOP"
    " defs := defs || t.def; EXECUTE format('DROP TRIGGER %I ON runs',"
    " t.tgname); END LOOP;"
    " DROP INDEX runs_idem;"
    " FOR t IN SELECT indexrelid::regclass::text AS name,"
    " pg_get_indexdef(indexrelid) AS def FROM pg_index"
    " WHERE indrelid = 'runs'::regclass AND NOT indisunique LOOP"
    " defs := defs || t.def; EXECUTE 'DROP INDEX ' || t.name; END LOOP;"
    " ALTER TABLE runs RENAME CONSTRAINT runs_pkey TO runs_rest_pkey;"
    " ALTER TABLE runs RENAME TO runs_rest;"
    " CREATE TABLE runs(LIKE runs_rest INCLUDING DEFAULTS"
    " INCLUDING CONSTRAINTS, PRIMARY KEY(requestor, id))"
    " PARTITION BY RANGE (id);"
    " ALTER TABLE runs ATTACH PARTITION runs_rest DEFAULT;"
    " FOREACH d IN ARRAY defs LOOP EXECUTE d; END LOOP; END$$;"

    "CREATE TABLE idem("
    " requestor" KEY ", template_id" KEY ", key" KEY ", run" KEY ","
    " PRIMARY KEY(requestor, template_id, key));"
    "CREATE INDEX idem_run ON idem(run);"
    "INSERT INTO idem SELECT requestor, template_id, idem_key, id FROM runs"
    " WHERE idem_key IS NOT NULL;"

    /* how the day ends: 0 kept, 1 dropped whole, 2 row by row */
    "CREATE TABLE day("
    " name" KEY " PRIMARY KEY, from_id" KEY ", to_id" KEY ", to_ms" NUMBER ","
    " how" ZERO ");"
    /* the least id of a time, as id_since() of base/id.c */
    "CREATE FUNCTION paddock_id(ms bigint) RETURNS text LANGUAGE sql IMMUTABLE"
    " AS $$SELECT 'run_' || string_agg(substr("
    "'234567abcdefghijklmnopqrstuvwxyz', ((ms * 4 >> 5 * i) & 31)::int + 1, 1),"
    " '' ORDER BY i DESC) FROM generate_series(0, 9) AS i$$;"

    /*
     * Create partitions for the day of NOW and for three more days. A day with rows in
     * the default partition stays in the default partition, and expires row by row.
     * ANALYZE lets plans know new partitions at once, since autovacuum does not analyze a
     * parent table without rows.
     */
    "CREATE FUNCTION paddock_make_days(now_ms bigint) RETURNS bigint"
    " LANGUAGE plpgsql AS $$DECLARE part text; lo text; hi text; d bigint;"
    " made bigint := 0; BEGIN"
    " IF (SELECT max(to_ms) FROM day) > now_ms + 86400000 * 2::bigint"
    " OR NOT " ALONE(
	"days") " THEN RETURN 0; END IF;"
		" PERFORM set_config('lock_timeout', '500', true);"
		" FOR i IN 0 .. 3 LOOP"
		" d := now_ms / 86400000 + i;"
		" part := 'runs_' || to_char(to_timestamp(d * 86400) AT TIME ZONE 'UTC',"
		" 'YYYYMMDD');"
		" CONTINUE WHEN EXISTS (SELECT 1 FROM day WHERE name = part);"
		" lo := paddock_id(d * 86400000); hi := paddock_id((d + 1) * 86400000);"
		" BEGIN"
		" EXECUTE format('CREATE TABLE %I(LIKE runs INCLUDING DEFAULTS"
		" INCLUDING CONSTRAINTS)', part);"
		/* a weaker lock than PARTITION OF */
		" EXECUTE format('ALTER TABLE runs ATTACH PARTITION %I FOR VALUES"
		" FROM (%L) TO (%L)', part, lo, hi);"
		" INSERT INTO day VALUES(part, lo, hi, (d + 1) * 86400000, 0);"
		" made := made + 1;"
		" EXCEPTION WHEN check_violation OR lock_not_available"
		" OR deadlock_detected THEN"
		" END;"
		" END LOOP;"
		" IF made > 0 THEN"
		" PERFORM set_config('default_statistics_target', '10', true);"
		" ANALYZE runs(requestor, template_id, status, ended, id, instance);"
		" END IF;"
		" RETURN made; END$$;"

		/*
			      * A day whose last run expires within another day waits until then, and is dropped
			      * at once: sums, keys and artifacts are reduced, and the table is dropped, which locks
			      * all of runs for a moment. A day with rows that stay longer is deleted row by row.
			      */
		"CREATE FUNCTION paddock_drop_day(d day, now_ms bigint) RETURNS boolean"
		" LANGUAGE plpgsql AS $$DECLARE last bigint; live boolean;"
		" mine bigint := paddock_slot(); BEGIN"
		" PERFORM set_config('lock_timeout', '500', true);"
		" PERFORM set_config('enable_seqscan', 'on', true);"
		" EXECUTE format('LOCK TABLE %I IN SHARE ROW EXCLUSIVE MODE', d.name);" LAST
		    LIVE " IF live OR last > now_ms THEN"
		" UPDATE day SET how = 2 WHERE name = d.name; RETURN false; END IF;"
		" EXECUTE format('WITH s AS MATERIALIZED (SELECT requestor, template_id,"
		" status, created_ms / 3600000 AS hour, count(*) AS n, sum(bytes) AS b"
		" FROM %I GROUP BY 1, 2, 3, 4), c AS (" ADD_COUNTS(
		    "SELECT requestor, template_id, status, - sum(n), $1 FROM s"
		    " GROUP BY 1, 2, 3") "), u AS (" ADD_USAGE("SELECT requestor, 0, - sum(b), $1 FROM s GROUP BY 1") ")" ADD_USED("SELECT requestor, template_id, hour, 0, 0, - sum(b), $1 FROM s"
																   " GROUP BY 1, 2, 3") "', d.name) USING mine;"
																			" DELETE FROM idem WHERE run >= d.from_id AND run < d.to_id;"
																			" DELETE FROM artifacts WHERE run_id >= d.from_id AND run_id < d.to_id;"
																			" EXECUTE format('DROP TABLE %I', d.name);"
																			" DELETE FROM day WHERE name = d.name;"
																			" RETURN true;"
																			" EXCEPTION WHEN lock_not_available OR deadlock_detected THEN"
																			" RETURN false;"
																			" WHEN query_canceled THEN" /* longer than statement_timeout */
																			" UPDATE day SET how = 2 WHERE name = d.name; RETURN false;"
																			" END$$;"

																			"CREATE FUNCTION paddock_drop_days(now_ms bigint) RETURNS bigint"
																			" LANGUAGE plpgsql AS $$DECLARE d day; last bigint; live boolean;"
																			" dropped bigint := 0; BEGIN"
																			" IF NOT " ALONE("days") " THEN RETURN 0; END IF;"
																						 /*
 * an hour for a late clock, and for an id that was just made
 */
																						 " FOR d IN SELECT * FROM day WHERE to_ms + 3600000 <= now_ms"
																						 " ORDER BY to_ms LOOP" LAST
																						 " CONTINUE WHEN last > now_ms + 86400000;"
																						 " IF d.how = 0 THEN" LIVE " d.how := CASE WHEN last IS NULL AND live THEN 0 WHEN live OR " KEEPS_FILES("AND (expires_ms = 0 OR expires_ms > now_ms + 86400000)") " THEN 2 ELSE 1 END;"
																																										  " UPDATE day SET how = d.how WHERE name = d.name AND how <> d.how;"
																																										  " END IF;"
																																										  " IF d.how = 2 THEN" OF_DAY(
																																										      "SELECT NOT EXISTS (SELECT 1 FROM %I)",
																																										      "live") " IF live THEN d.how := 1; END IF;"
																																											      " END IF;"
																																											      " IF d.how = 1 AND (last IS NULL OR last <= now_ms) AND NOT " KEEPS_FILES("") " THEN"
																																																					    " IF paddock_drop_day(d, now_ms) THEN dropped := dropped + 1; END IF;"
																																																					    " END IF;"
																																																					    " END LOOP;"
																																																					    " RETURN dropped; END$$;"

																																																					    /*
 * Select the rows that expire row by row.
 */
																																																					    "CREATE FUNCTION paddock_expired(now_ms bigint, most bigint)"
																																																					    " RETURNS TABLE(id text, requestor text) LANGUAGE plpgsql AS $$"
																																																					    " DECLARE part text; n bigint := 0; k bigint; BEGIN"
																																																					    " FOR part IN SELECT name FROM day WHERE how <> 1"
																																																					    " UNION ALL SELECT 'runs_rest' LOOP"
																																																					    " RETURN QUERY EXECUTE format('SELECT id::text, requestor::text FROM %I"
																																																					    " WHERE expires_ms > 0 AND expires_ms <= $1 AND ended = 1 LIMIT $2', part)"
																																																					    " USING now_ms, most - n;"
																																																					    " GET DIAGNOSTICS k = ROW_COUNT; n := n + k;"
																																																					    " EXIT WHEN n >= most;"
																																																					    " END LOOP; END$$;"

    HOT("node") HOT("counts") HOT("usage") HOT("used") HOT("mail")
	HOT("shown") "SELECT paddock_make_days(paddock_now());"
		     "UPDATE paddock_schema SET version = version + 1;";
