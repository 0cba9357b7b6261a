/* SPDX-License-Identifier: Apache-2.0 */
/*
 * store_sqlite_schema.c - SQLite's tables, indexes and triggers by version of
 * the file, and the macros of store_statements.def for SQLite. store_sqlite.c
 * executes and prepares the statements. The file has no code: a wrong statement
 * shows when the file is opened, and ends the start.
 */
#include "supervisor/store/sqlite/store_sqlite_schema.h"

/*
 * FULL: a reported commit is on the disk. Memory stays modest. A run's row changes a page
 * in each of eight trees, and a commit writes whole pages: so a new file has half of
 * SQLite's usual page size, and as many bytes between checkpoints.
 */
const char store_pragmas[] = "PRAGMA page_size=2048;"
			     "PRAGMA journal_mode=WAL;"
			     "PRAGMA wal_autocheckpoint=2000;"
			     "PRAGMA synchronous=FULL;"
			     "PRAGMA cache_size=-2048;"
			     "PRAGMA mmap_size=0;"
			     "PRAGMA temp_store=MEMORY;"
			     "PRAGMA journal_size_limit=16777216;"
			     "PRAGMA trusted_schema=OFF;";

/*
 * Staged rows are durable in the table staged, so that the commit of a move
 * need not be synced: a power failure removes the whole commit from the end of
 * the log, or nothing. No page is written before the commit: on a full disk,
 * moved rows can still be read until the move is rolled back.
 */
const char store_relaxed[] = "PRAGMA main.synchronous=NORMAL;"
			     "PRAGMA cache_spill=OFF;";
const char store_strict[] = "PRAGMA main.synchronous=FULL;"
			    "PRAGMA cache_spill=ON;";

/*
 * Status 0 and 1 are open, few and temporary; the other states are final and
 * many. So each index holds a single kind, and a run enters the large indexes
 * only once. Triggers keep counts and usage, so that totals need no scan.
 */
static const char first[] =
    "CREATE TABLE runs("
    " id TEXT NOT NULL,"
    " requestor TEXT NOT NULL,"
    " template_id TEXT NOT NULL,"
    " version TEXT NOT NULL,"
    " digest TEXT NOT NULL,"
    " instance TEXT NOT NULL,"
    " status INTEGER NOT NULL CHECK(status BETWEEN 0 AND 5),"
    " created_ms INTEGER NOT NULL,"
    " started_ms INTEGER NOT NULL,"
    " updated_ms INTEGER NOT NULL,"
    " finished_ms INTEGER NOT NULL,"
    " expires_ms INTEGER NOT NULL,"
    " ended INTEGER NOT NULL," /* is status one of the final states? */
    " idem_key TEXT,"
    " idem_digest TEXT,"
    " inputs TEXT,"
    " options TEXT,"
    " view TEXT,"
    " log TEXT,"
    " PRIMARY KEY(requestor, id)) STRICT;"
    "CREATE INDEX runs_open ON runs(requestor, status, id, template_id,"
    " ended) WHERE ended = 0;"
    "CREATE INDEX runs_ended ON runs(requestor, status, id, ended)"
    " WHERE ended = 1;"
    "CREATE INDEX runs_template ON runs(requestor, template_id, status, id,"
    " ended) WHERE ended = 1;"
    "CREATE UNIQUE INDEX runs_idem ON runs(requestor, template_id, idem_key)"
    " WHERE idem_key IS NOT NULL;"
    "CREATE INDEX runs_expiry ON runs(expires_ms) WHERE expires_ms > 0;"

    "CREATE TABLE counts("
    " requestor TEXT NOT NULL,"
    " template_id TEXT NOT NULL,"
    " status INTEGER NOT NULL,"
    " n INTEGER NOT NULL,"
    " PRIMARY KEY(requestor, template_id, status)) STRICT, WITHOUT ROWID;"
    "CREATE TRIGGER runs_added AFTER INSERT ON runs BEGIN"
    " INSERT INTO counts VALUES"
    "  (new.requestor, new.template_id, new.status, 1)"
    "  ON CONFLICT DO UPDATE SET n = n + 1;"
    "END;"
    "CREATE TRIGGER runs_moved AFTER UPDATE OF status, template_id ON runs"
    " WHEN old.status <> new.status OR old.template_id <> new.template_id "
    "BEGIN"
    " UPDATE counts SET n = n - 1 WHERE requestor = old.requestor"
    "  AND template_id = old.template_id AND status = old.status;"
    " INSERT INTO counts VALUES"
    "  (new.requestor, new.template_id, new.status, 1)"
    "  ON CONFLICT DO UPDATE SET n = n + 1;"
    "END;"
    "CREATE TRIGGER runs_removed AFTER DELETE ON runs BEGIN"
    " UPDATE counts SET n = n - 1 WHERE requestor = old.requestor"
    "  AND template_id = old.template_id AND status = old.status;"
    "END;"

    "CREATE TABLE artifacts("
    " id TEXT PRIMARY KEY NOT NULL,"
    " run_id TEXT NOT NULL,"
    " requestor TEXT NOT NULL,"
    " name TEXT NOT NULL,"
    " mime_type TEXT NOT NULL,"
    " sha256 TEXT NOT NULL,"
    " size INTEGER NOT NULL CHECK(size >= 0),"
    " created_ms INTEGER NOT NULL,"
    " expires_ms INTEGER NOT NULL,"
    " gone INTEGER NOT NULL DEFAULT 0) STRICT;" /* the file is gone */
    "CREATE INDEX artifacts_run ON artifacts(run_id);"
    "CREATE INDEX artifacts_expiry ON artifacts(expires_ms)"
    " WHERE gone = 0 AND expires_ms > 0;"

    "CREATE TABLE usage("
    " requestor TEXT PRIMARY KEY NOT NULL,"
    " artifact_bytes INTEGER NOT NULL) STRICT, WITHOUT ROWID;"
    "CREATE TRIGGER artifacts_added AFTER INSERT ON artifacts BEGIN"
    " INSERT INTO usage VALUES(new.requestor, new.size) ON CONFLICT"
    "  DO UPDATE SET artifact_bytes = artifact_bytes + new.size;"
    "END;"
    "CREATE TRIGGER artifacts_gone AFTER UPDATE OF gone ON artifacts"
    " WHEN old.gone = 0 AND new.gone = 1 BEGIN"
    " UPDATE usage SET artifact_bytes = artifact_bytes - old.size"
    "  WHERE requestor = old.requestor;"
    "END;"
    "CREATE TRIGGER artifacts_removed AFTER DELETE ON artifacts"
    " WHEN old.gone = 0 BEGIN"
    " UPDATE usage SET artifact_bytes = artifact_bytes - old.size"
    "  WHERE requestor = old.requestor;"
    "END;"
    "PRAGMA user_version=1;";

/*
 * Tasks. A run may outlive the task, which then leaves the indexes (task_expires_ms = 0):
 * so a page of tasks reads no more rows than the page shows.
 */
static const char tasks[] =
    "ALTER TABLE runs ADD COLUMN cancelling INTEGER NOT NULL DEFAULT 0;"
    "ALTER TABLE runs ADD COLUMN task INTEGER NOT NULL DEFAULT 0;"
    "ALTER TABLE runs ADD COLUMN task_ttl_ms INTEGER NOT NULL DEFAULT 0;"
    "ALTER TABLE runs ADD COLUMN task_expires_ms INTEGER NOT NULL DEFAULT 0;"
    "ALTER TABLE runs ADD COLUMN task_note TEXT;"
    "CREATE INDEX runs_tasks ON runs(requestor, id)"
    " WHERE task_expires_ms > 0;"
    "CREATE INDEX runs_task_expiry ON runs(task_expires_ms)"
    " WHERE task_expires_ms > 0;"
    "PRAGMA user_version=2;";

/*
 * Bytes of rows, beside bytes of artifacts: the total of a requestor. A row
 * counts as the large texts and a usual size for the rest.
 */
#define ROW_BYTES STORE_TEXT(STORE_ROW_BYTES)

static const char account[] =
    "ALTER TABLE runs ADD COLUMN bytes INTEGER NOT NULL DEFAULT 0;"
    "ALTER TABLE usage ADD COLUMN row_bytes INTEGER NOT NULL DEFAULT 0;"
    "UPDATE runs SET bytes = " ROW_BYTES
    " + coalesce(length(CAST(inputs AS BLOB)), 0)"
    " + coalesce(length(CAST(options AS BLOB)), 0)"
    " + coalesce(length(CAST(view AS BLOB)), 0)"
    " + coalesce(length(CAST(log AS BLOB)), 0);"
    "INSERT INTO usage(requestor, artifact_bytes, row_bytes)"
    " SELECT requestor, 0, sum(bytes) FROM runs WHERE true GROUP BY requestor"
    " ON CONFLICT DO UPDATE SET row_bytes = excluded.row_bytes;"
    "DROP TRIGGER IF EXISTS artifacts_added;"
    "CREATE TRIGGER artifacts_added AFTER INSERT ON artifacts BEGIN"
    " INSERT INTO usage VALUES(new.requestor, new.size, 0) ON CONFLICT"
    "  DO UPDATE SET artifact_bytes = artifact_bytes + new.size;"
    "END;"
    "CREATE TRIGGER runs_weighed AFTER INSERT ON runs BEGIN"
    " INSERT INTO usage VALUES(new.requestor, 0, new.bytes) ON CONFLICT"
    "  DO UPDATE SET row_bytes = row_bytes + new.bytes;"
    "END;"
    "CREATE TRIGGER runs_grown AFTER UPDATE OF bytes ON runs"
    " WHEN old.bytes <> new.bytes BEGIN"
    " UPDATE usage SET row_bytes = row_bytes + new.bytes - old.bytes"
    "  WHERE requestor = new.requestor;"
    "END;"
    "CREATE TRIGGER runs_forgotten AFTER DELETE ON runs BEGIN"
    " UPDATE usage SET row_bytes = row_bytes - old.bytes"
    "  WHERE requestor = old.requestor;"
    "END;"
    "PRAGMA user_version=3;";

/*
 * Mail between instances about open runs: mail to the owner of a run, and the view that
 * the owner shows while another instance asks. The end of a run deletes both.
 */
static const char mail[] =
    "CREATE TABLE mail("
    " run TEXT NOT NULL,"
    " kind INTEGER NOT NULL,"
    " instance TEXT NOT NULL,"
    " until_ms INTEGER NOT NULL,"
    " PRIMARY KEY(run, kind)) STRICT, WITHOUT ROWID;"
    "CREATE INDEX mail_to ON mail(instance);"
    "CREATE TABLE shown("
    " run TEXT PRIMARY KEY NOT NULL,"
    " requestor TEXT NOT NULL,"
    " awaiting INTEGER NOT NULL,"
    " until_ms INTEGER NOT NULL,"
    " log_until_ms INTEGER NOT NULL,"
    " seq INTEGER NOT NULL,"
    " log_seq INTEGER NOT NULL,"
    " note TEXT,"
    " view TEXT,"
    " log TEXT) STRICT;"
    "CREATE TRIGGER runs_over AFTER UPDATE OF ended ON runs"
    " WHEN old.ended = 0 AND new.ended = 1 BEGIN"
    " DELETE FROM mail WHERE run = new.id;"
    " DELETE FROM shown WHERE run = new.id;"
    "END;"
    "PRAGMA user_version=4;";

/* Sessions over HTTP: few small rows, each changed now and then. */
static const char sessions[] =
    "CREATE TABLE sessions("
    " key TEXT PRIMARY KEY NOT NULL,"
    " requestor TEXT NOT NULL,"
    " credential TEXT NOT NULL,"
    " revision TEXT NOT NULL,"
    " client TEXT NOT NULL,"
    " uris TEXT NOT NULL,"
    " log_level INTEGER NOT NULL,"
    " used_ms INTEGER NOT NULL,"
    " expires_ms INTEGER NOT NULL) STRICT;"
    "CREATE INDEX sessions_of ON sessions(requestor, used_ms);"
    "CREATE INDEX sessions_used ON sessions(used_ms);"
    "CREATE INDEX sessions_expiry ON sessions(expires_ms);"
    "PRAGMA user_version=5;";

/*
 * Use by the hour in which a run was created, so that sums over many runs need
 * no scan of runs. The number of runs and the CPU time stay when a run is
 * deleted; bytes are the bytes kept now.
 */
#define USED_BY_NEW                                                            \
	" WHERE requestor = new.requestor AND template_id = new.template_id"   \
	" AND hour = new.created_ms / 3600000;"
#define USED_BY_OLD                                                            \
	" WHERE requestor = old.requestor AND template_id = old.template_id"   \
	" AND hour = old.created_ms / 3600000;"
#define USED_UPLOAD                                                            \
	" WHERE requestor = old.requestor AND template_id = ''"                \
	" AND hour = old.created_ms / 3600000;"
/* find the run of an artifact */
#define USED_OF                                                                \
	" WHERE (requestor, template_id, hour) = (SELECT requestor,"           \
	" template_id, created_ms / 3600000 FROM runs WHERE requestor = "
#define USED_OF_NEW USED_OF "new.requestor AND id = new.run_id);"
#define USED_OF_OLD USED_OF "old.requestor AND id = old.run_id);"

static const char used[] =
    "ALTER TABLE runs ADD COLUMN cpu_ms INTEGER NOT NULL DEFAULT 0;"
    "UPDATE runs SET cpu_ms = coalesce(CAST(json_extract(view,"
    " '$.metrics.cpuMs') AS INTEGER), 0)"
    " WHERE ended = 1 AND json_valid(view);"
    "CREATE TABLE used("
    " requestor TEXT NOT NULL,"
    " template_id TEXT NOT NULL,"
    " hour INTEGER NOT NULL,"
    " runs INTEGER NOT NULL,"
    " cpu_ms INTEGER NOT NULL,"
    " bytes INTEGER NOT NULL,"
    " PRIMARY KEY(requestor, template_id, hour)) STRICT, WITHOUT ROWID;"
    "CREATE INDEX used_hours ON used(hour);"
    "INSERT INTO used SELECT requestor, template_id, created_ms / 3600000,"
    " count(*), sum(cpu_ms), sum(bytes) FROM runs GROUP BY 1, 2, 3;"
    "INSERT INTO used SELECT r.requestor, r.template_id,"
    " r.created_ms / 3600000, 0, 0, sum(size) FROM artifacts JOIN runs AS r"
    " ON r.requestor = artifacts.requestor AND r.id = run_id WHERE gone = 0"
    " GROUP BY 1, 2, 3"
    " ON CONFLICT DO UPDATE SET bytes = bytes + excluded.bytes;"
    "CREATE TRIGGER used_run AFTER INSERT ON runs BEGIN"
    " INSERT INTO used VALUES(new.requestor, new.template_id,"
    "  new.created_ms / 3600000, 1, new.cpu_ms, new.bytes)"
    "  ON CONFLICT DO UPDATE SET runs = runs + 1,"
    "  cpu_ms = cpu_ms + new.cpu_ms, bytes = bytes + new.bytes;"
    "END;"
    "CREATE TRIGGER used_more AFTER UPDATE OF bytes, cpu_ms ON runs"
    " WHEN old.bytes <> new.bytes OR old.cpu_ms <> new.cpu_ms BEGIN"
    " UPDATE used SET cpu_ms = cpu_ms + new.cpu_ms - old.cpu_ms,"
    "  bytes = bytes + new.bytes - old.bytes" USED_BY_NEW "END;"
    "CREATE TRIGGER used_less AFTER DELETE ON runs BEGIN"
    " UPDATE used SET bytes = bytes - old.bytes" USED_BY_OLD "END;"
    "CREATE TRIGGER used_artifact AFTER INSERT ON artifacts BEGIN"
    " UPDATE used SET bytes = bytes + new.size" USED_OF_NEW "END;"
    "CREATE TRIGGER used_gone AFTER UPDATE OF gone ON artifacts"
    " WHEN old.gone = 0 AND new.gone = 1 BEGIN"
    " UPDATE used SET bytes = bytes - old.size" USED_OF_OLD "END;"
    "CREATE TRIGGER used_removed AFTER DELETE ON artifacts"
    " WHEN old.gone = 0 BEGIN"
    " UPDATE used SET bytes = bytes - old.size" USED_OF_OLD "END;"
    "PRAGMA user_version=6;";

/* The inputs stay with a run, for a retry; and the original of a retried run. */
static const char retries[] = "ALTER TABLE runs ADD COLUMN retried_from TEXT;"
			      "ALTER TABLE runs ADD COLUMN inputs_lack TEXT;"
			      "PRAGMA user_version=7;";

/*
 * An upload belongs to no run, and is found, counted and deleted alone. In "used" an
 * upload has no template, but counts like a run. Earlier all uploads of a requestor had a
 * common folder, up_ and a digest; old uploads stay in the folder.
 */
static const char uploads[] =
    "ALTER TABLE artifacts ADD COLUMN upload INTEGER NOT NULL DEFAULT 0;"
    "UPDATE artifacts SET upload = 1 WHERE substr(run_id, 1, 3) = 'up_';"
    "CREATE INDEX artifacts_own ON artifacts(requestor, id) WHERE gone = 0;"
    "CREATE INDEX uploads ON artifacts(requestor, id)"
    " WHERE upload = 1 AND gone = 0;"
    "CREATE INDEX uploads_over ON artifacts(expires_ms)"
    " WHERE upload = 1 AND gone = 1;"
    "INSERT INTO used SELECT requestor, '', created_ms / 3600000, count(*), 0,"
    " sum(CASE gone WHEN 0 THEN size ELSE 0 END) FROM artifacts"
    " WHERE upload = 1 GROUP BY 1, 2, 3;"
    "CREATE TRIGGER used_upload AFTER INSERT ON artifacts"
    " WHEN new.upload = 1 BEGIN"
    " INSERT INTO used VALUES(new.requestor, '', new.created_ms / 3600000,"
    "  1, 0, new.size) ON CONFLICT DO UPDATE SET runs = runs + 1,"
    "  bytes = bytes + new.size;"
    "END;"
    "CREATE TRIGGER used_upload_gone AFTER UPDATE OF gone ON artifacts"
    " WHEN old.gone = 0 AND new.gone = 1 AND old.upload = 1 BEGIN"
    " UPDATE used SET bytes = bytes - old.size" USED_UPLOAD "END;"
    "CREATE TRIGGER used_upload_removed AFTER DELETE ON artifacts"
    " WHEN old.gone = 0 AND old.upload = 1 BEGIN"
    " UPDATE used SET bytes = bytes - old.size" USED_UPLOAD "END;"
    "PRAGMA user_version=8;";

/* The node of a run, as in PostgreSQL: always null here. */
static const char run_nodes[] = "ALTER TABLE runs ADD COLUMN node TEXT;"
				"PRAGMA user_version=9;";

/*
 * Rows of ended runs, committed and not yet in "runs", in order: a table
 * without indexes and triggers, since a commit writes each changed page. The
 * columns are the parameters of STMT_PUT_RUN, with the constraints of "runs".
 */
static const char staged[] =
    "CREATE TABLE staged("
    " seq INTEGER PRIMARY KEY,"
    " id TEXT NOT NULL,"
    " requestor TEXT NOT NULL,"
    " template_id TEXT NOT NULL,"
    " version TEXT NOT NULL,"
    " digest TEXT NOT NULL,"
    " status INTEGER NOT NULL CHECK(status BETWEEN 2 AND 5),"
    " created_ms INTEGER NOT NULL,"
    " started_ms INTEGER NOT NULL,"
    " updated_ms INTEGER NOT NULL,"
    " finished_ms INTEGER NOT NULL,"
    " expires_ms INTEGER NOT NULL,"
    " idem_key TEXT CHECK(idem_key IS NULL)," /* the key must be unique */
    " idem_digest TEXT,"
    " cancelling INTEGER NOT NULL,"
    " task INTEGER NOT NULL,"
    " task_ttl_ms INTEGER NOT NULL,"
    " task_expires_ms INTEGER NOT NULL,"
    " task_note TEXT,"
    " retried_from TEXT,"
    " inputs TEXT,"
    " inputs_lack TEXT,"
    " options TEXT,"
    " view TEXT,"
    " log TEXT,"
    " instance TEXT NOT NULL,"
    " bytes INTEGER NOT NULL,"
    " cpu_ms INTEGER NOT NULL,"
    " keeps_inputs INTEGER NOT NULL,"
    " node TEXT) STRICT;"
    "PRAGMA user_version=10;";

/* Grants that clients proposed, of any state; at most STORE_PROPOSALS_MAX rows. */
static const char proposals[] = "CREATE TABLE proposals("
				" id TEXT PRIMARY KEY NOT NULL,"
				" requestor TEXT NOT NULL,"
				" template_id TEXT NOT NULL,"
				" digest TEXT NOT NULL,"
				" body TEXT NOT NULL,"
				" made_ms INTEGER NOT NULL,"
				" expires_ms INTEGER NOT NULL,"
				" approved_ms INTEGER NOT NULL) STRICT;"
				"PRAGMA user_version=15;";

/* A step adds a column of store_columns.def. */
#define ADD_COLUMN(t, n, name, kind, type, version, ...)                       \
	[version - 1] = "ALTER TABLE runs ADD COLUMN " #name ADDED_##kind      \
	    ";ALTER TABLE staged ADD COLUMN " #name ADDED_##kind               \
	    ";PRAGMA user_version=" #version ";",
#define ADDED_TEXT " TEXT"
#define ADDED_TIME " INTEGER NOT NULL DEFAULT 0"
#define ADDED_INT ADDED_TIME
#define ADDED_FLAG ADDED_TIME

const char *const store_steps[STORE_SCHEMA_VERSION] = {
    first,
    tasks,
    account,
    mail,
    sessions,
    used,
    retries,
    uploads,
    run_nodes,
    staged,
    STORE_RUN_ADDED(ADD_COLUMN, )[13] =
	STORE_JOURNAL_INDEX "PRAGMA user_version=14;",
    [14] = proposals};

/* Macros of store_statements.def, as SQLite needs them. */
#define BEGIN_WRITING "BEGIN IMMEDIATE"
#define BY(index) " INDEXED BY " index
#define AND_SILENT ""
#define AND_MESSAGES "" /* messages between several machines */
#define SHOWN_ASKED "NULL"
#define SHOWN_NODE "NULL"
#define NODE_ROWS "SELECT 1 WHERE 0" /* instances of one machine are files */
#define UNINDEXED " NOT INDEXED"
#define ROW "rowid"
#define RUN ROW /* rowid finds a run of any requestor */
/* A page: the rows are picked by an index alone, and only then read. */
#define PICKED "id, rowid AS at"
#define NO_BULK ", NULL, NULL, NULL, NULL, NULL, NULL" /* and no node */
#define PAGE(pick)                                                             \
	"SELECT " HEAD("runs.") NO_BULK STORE_RUN_ADDED(                       \
	    NAMED,                                                             \
	    "runs.") " FROM (" pick                                            \
		     " ORDER BY id DESC LIMIT ?3 OFFSET ?4) AS page"           \
		     " CROSS JOIN runs WHERE runs.rowid = page.at ORDER BY page.id DESC"
#define HAS_KEY(template_id_, key)                                             \
	"template_id = " template_id_ " AND idem_key = " key                   \
	" AND idem_key IS NOT NULL"
#define EXPIRED(now_ms, n)                                                     \
	"runs INDEXED BY runs_expiry WHERE expires_ms > 0"                     \
	" AND expires_ms <= " now_ms " AND ended = 1 LIMIT " n
#define REST_AFTER(n) " LIMIT -1 OFFSET " n
#define GREATER "max"
/* Rows of each status, by the index with the right order. */
#define ANY_OF_TEMPLATE                                                                \
	OPEN_OF("0")                                                                   \
	" UNION ALL " OPEN_OF("1") " UNION ALL " ENDED_OF("2") " UNION ALL " ENDED_OF( \
	    "3") " UNION ALL " ENDED_OF("4") " UNION ALL " ENDED_OF("5")
#define FLAG(condition) condition
#define BYTES_OF(text) "length(CAST(" text " AS BLOB))"
#define IF_OURS ""
#define AND_NEWS ""
#define UNTIL_IT_ENDS "" /* only one writer at a time */
#define OR_OF_NONE ""
#define SHARED(...) "SELECT 0" /* instances share no queue */
#define STAGED(...) __VA_ARGS__

const char *const store_statements[STORE_STMTS] = {
#define STORE_STMT(name, ...) [STMT_##name] = __VA_ARGS__,
#include "supervisor/store/store_statements.def"
};
