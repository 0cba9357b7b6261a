/* SPDX-License-Identifier: Apache-2.0 */
/*
 * store_schema.c - the tables, indexes and triggers by version of the file, and
 * the text of every statement. store_sql.c runs and prepares them. There is no
 * code here: a wrong statement shows when the file is opened, and ends the
 * start.
 */
#include "supervisor/store/db/store_schema.h"

/* FULL: a commit that was reported is on the disk. Memory stays modest. */
const char store_pragmas[] = "PRAGMA journal_mode=WAL;"
			     "PRAGMA synchronous=FULL;"
			     "PRAGMA cache_size=-2048;"
			     "PRAGMA mmap_size=0;"
			     "PRAGMA temp_store=MEMORY;"
			     "PRAGMA journal_size_limit=16777216;"
			     "PRAGMA trusted_schema=OFF;";

/*
 * Status 0 and 1 are open, few, and passing; the others are for good and
 * many. So each index holds one sort, and a run enters those of the many
 * once. counts and usage are kept by triggers: totals cost no scan.
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
    " ended INTEGER NOT NULL," /* is status one of those? */
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
    " gone INTEGER NOT NULL DEFAULT 0) STRICT;" /* its file is */
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
 * Tasks. A run may outlive its task, which is then taken out of the indexes
 * (task_expires_ms = 0): a page reads no more rows than it shows.
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
 * Bytes of rows, beside those of artifacts: what one requestor has here in all.
 * A row is counted by its large texts, and the rest of it as much as is usual.
 */
#define ROW_BYTES STORE_TEXT(STORE_ROW_BYTES)
#define STORE_TEXT(n) STORE_TEXT_OF(n)
#define STORE_TEXT_OF(n) #n

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
 * What instances say to each other about runs that are open: mail to a run's
 * owner, and what the owner shows of it while somebody asks. A run's end takes
 * both away.
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

/* Sessions over HTTP: few, small, and each changed now and then. */
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

const char *const store_steps[STORE_SCHEMA_VERSION] = {first, tasks, account,
						       mail, sessions};

/* The order that store_run_row() reads; a list stops before the bulk. */
#define HEAD(t)                                                                \
	t "id, " t "requestor, " t "template_id, " t "version, " t             \
	  "digest, " t "status, " t "created_ms, " t "started_ms, " t          \
	  "updated_ms, " t "finished_ms, " t "expires_ms, " t "idem_key, " t   \
	  "idem_digest, " t "cancelling, " t "task, " t "task_ttl_ms, " t      \
	  "task_expires_ms, " t "task_note"
#define BULK "inputs, options, view, log"

/* A page: its rows are picked in an index alone, and only then read. */
#define PAGE(pick)                                                             \
	"SELECT " HEAD(                                                        \
	    "runs.") " FROM (" pick                                            \
		     " ORDER BY id DESC LIMIT ?3 OFFSET ?4) AS page"           \
		     " CROSS JOIN runs ON runs.rowid = page.at ORDER BY page.id DESC"
#define PICK(index, where)                                                     \
	"SELECT id, rowid AS at FROM runs INDEXED BY " index                   \
	" WHERE requestor = ?1 AND " where
#define OPEN_OF(n)                                                             \
	PICK("runs_open", "status = " n " AND ended = 0 AND template_id = ?2")
#define ENDED_OF(n)                                                            \
	PICK("runs_template",                                                  \
	     "status = " n " AND ended = 1 AND template_id = ?2")

/* An open run of instance ?1, which is dead, ends now: ?3. */
#define OVER                                                                   \
	" ended = 1, updated_ms = ?3, finished_ms = ?3,"                       \
	" expires_ms = max(?4, task_expires_ms), inputs = NULL,"               \
	" options = NULL, view = NULL, instance = ?2, bytes = " ROW_BYTES
/* Somebody asked for its end, which was not read any more. */
#define TO_CANCEL "EXISTS (SELECT 1 FROM mail WHERE run = id AND kind = 1)"

const char *const store_statements[STORE_STMTS] = {
    [STMT_BEGIN_READ] = "BEGIN",
    [STMT_BEGIN_WRITE] = "BEGIN IMMEDIATE",
    [STMT_COMMIT] = "COMMIT",
    [STMT_ROLLBACK] = "ROLLBACK",
    [STMT_PUT_RUN] =
	"INSERT INTO runs(id, requestor, template_id, version, digest, status,"
	" created_ms, started_ms, updated_ms, finished_ms, expires_ms,"
	" idem_key, idem_digest, cancelling, task, task_ttl_ms,"
	" task_expires_ms, task_note, " BULK
	", instance, bytes, ended) VALUES(?1, ?2,"
	" ?3, ?4, ?5, ?6, ?7, ?8, ?9, ?10, ?11, ?12, ?13, ?14, ?15, ?16, ?17,"
	" ?18, ?19, ?20, ?21, ?22, ?23, ?24, ?6 >= 2)"
	" ON CONFLICT(requestor, id) DO UPDATE SET template_id = ?3,"
	" version = ?4, digest = ?5, status = ?6, created_ms = ?7,"
	" started_ms = ?8, updated_ms = ?9, finished_ms = ?10,"
	" expires_ms = ?11, idem_key = ?12, idem_digest = ?13,"
	" cancelling = ?14, task = ?15, task_ttl_ms = ?16,"
	" task_expires_ms = ?17, task_note = ?18, inputs = ?19,"
	" options = ?20, view = ?21, log = ?22, instance = ?23,"
	" bytes = ?24, ended = ?6 >= 2",
    [STMT_GET_RUN] = "SELECT " HEAD(
	"") ", " BULK " FROM runs WHERE requestor = ?1 AND id = ?2",
    [STMT_GET_TASK] = "SELECT " HEAD("") " FROM runs"
					 " WHERE requestor = ?1 AND id = ?2",
    [STMT_LIST_TASKS] = "SELECT " HEAD(
	"") " FROM runs INDEXED BY runs_tasks"
	    " WHERE requestor = ?1 AND id < ?2 AND task_expires_ms > 0"
	    " AND task_expires_ms > ?3 ORDER BY id DESC LIMIT ?4",
    [STMT_FIND_IDEM] = "SELECT " HEAD(
	"") ", " BULK " FROM runs INDEXED BY runs_idem WHERE requestor = ?1"
	    " AND template_id = ?2 AND idem_key = ?3"
	    " AND idem_key IS NOT NULL",
    [STMT_LIST_ANY] = PAGE("SELECT id, rowid AS at FROM runs"
			   " WHERE requestor = ?1"),
    [STMT_LIST_OPEN] = PAGE(PICK("runs_open", "status = ?5 AND ended = 0")),
    [STMT_LIST_ENDED] = PAGE(PICK("runs_ended", "status = ?5 AND ended = 1")),
    [STMT_LIST_TEMPLATE] = PAGE(
	OPEN_OF("0") " UNION ALL " OPEN_OF("1") " UNION ALL " ENDED_OF("2") " UNION ALL " ENDED_OF(
	    "3") " UNION ALL " ENDED_OF("4") " UNION ALL " ENDED_OF("5")),
    [STMT_LIST_TEMPLATE_OPEN] = PAGE(OPEN_OF("?5")),
    [STMT_LIST_TEMPLATE_ENDED] = PAGE(ENDED_OF("?5")),
    [STMT_COUNT] = "SELECT coalesce(sum(n), 0) FROM counts WHERE"
		   " requestor = ?1 AND (?2 IS NULL OR template_id = ?2)"
		   " AND (?3 < 0 OR status = ?3)",
    [STMT_PUT_ARTIFACT] =
	/* a straggler shares the end of its run */
    "INSERT INTO artifacts(id, run_id, requestor, name, mime_type, sha256,"
    " size, created_ms, expires_ms) VALUES(?1, ?2, ?3, ?4, ?5, ?6, ?7, ?8,"
    " CASE WHEN ?9 > 0 THEN ?9 ELSE coalesce((SELECT expires_ms FROM runs"
    " WHERE requestor = ?3 AND id = ?2), 0) END)"
    " ON CONFLICT(id) DO NOTHING",
    [STMT_GET_ARTIFACT] =
	"SELECT id, run_id, requestor, name, mime_type, sha256, size,"
	" created_ms, expires_ms, gone FROM artifacts"
	" WHERE id = ?1 AND requestor = ?2",
    [STMT_EXPIRE_ARTIFACTS] =
	"UPDATE artifacts SET expires_ms = ?2 WHERE run_id = ?1",
    [STMT_USAGE] = "SELECT artifact_bytes, row_bytes FROM usage"
		   " WHERE requestor = ?1",
    [STMT_CHANGE_SESSION] =
	"UPDATE sessions SET requestor = ?2, credential = ?3, revision = ?4,"
	" client = ?5, uris = ?6, log_level = ?7, used_ms = ?8,"
	" expires_ms = ?9 WHERE key = ?1",
    [STMT_ADD_SESSION] = "INSERT INTO sessions(key, requestor, credential,"
			 " revision, client, uris, log_level, used_ms,"
			 " expires_ms) VALUES(?1, ?2, ?3, ?4, ?5, ?6, ?7, ?8,"
			 " ?9)",
    [STMT_TRIM_SESSIONS_OF] =
	"DELETE FROM sessions WHERE rowid IN (SELECT rowid FROM sessions"
	" INDEXED BY sessions_of WHERE requestor = ?1 ORDER BY used_ms DESC"
	" LIMIT -1 OFFSET " STORE_TEXT(STORE_SESSIONS_EACH) ")",
    [STMT_TRIM_SESSIONS] =
	"DELETE FROM sessions WHERE rowid IN (SELECT rowid FROM sessions"
	" INDEXED BY sessions_used ORDER BY used_ms DESC"
	" LIMIT -1 OFFSET " STORE_TEXT(STORE_SESSIONS_MAX) ")",
    [STMT_GET_SESSION] =
	"SELECT key, requestor, credential, revision, client, uris, log_level,"
	" used_ms, expires_ms FROM sessions WHERE key = ?1"
	" AND expires_ms > ?2",
    [STMT_DROP_SESSION] = "DELETE FROM sessions WHERE key = ?1",
    [STMT_DROP_SESSIONS] = "DELETE FROM sessions WHERE requestor = ?1",
    [STMT_EXPIRED_SESSIONS] =
	"DELETE FROM sessions WHERE rowid IN (SELECT rowid FROM sessions"
	" INDEXED BY sessions_expiry WHERE expires_ms <= ?1 LIMIT ?2)",
    [STMT_INSTANCES] = "SELECT DISTINCT instance FROM runs"
		       " INDEXED BY runs_open WHERE ended = 0",
    [STMT_CLAIM_RUNNING_ARTIFACTS] =
	"UPDATE artifacts SET expires_ms = ?2 WHERE expires_ms = 0"
	" AND run_id IN (SELECT id FROM runs INDEXED BY runs_open"
	" WHERE status = 1 AND ended = 0 AND instance = ?1)",
    [STMT_CLAIM_RUNNING] = "UPDATE runs INDEXED BY runs_open"
			   " SET status = CASE WHEN cancelling OR " TO_CANCEL
			   " THEN 5 ELSE 3 END," OVER
			   " WHERE status = 1 AND ended = 0 AND instance = ?1",
    [STMT_CLAIM_CANCELLED] =
	"UPDATE runs INDEXED BY runs_open SET status = 5," OVER
	" WHERE status = 0 AND ended = 0 AND instance = ?1 AND " TO_CANCEL,
    [STMT_CLAIM_QUEUED] = "UPDATE runs INDEXED BY runs_open SET instance = ?2"
			  " WHERE status = 0 AND ended = 0 AND instance = ?1"
			  " RETURNING " HEAD("") ", " BULK,
    [STMT_CLAIM_MAIL] = "UPDATE mail SET instance = ?2 WHERE instance = ?1",
    [STMT_ARTIFACT_LIVES] = "SELECT 1 FROM artifacts"
			    " WHERE id = ?1 AND run_id = ?2 AND gone = 0",
    [STMT_EXPIRED_ARTIFACTS] =
	"SELECT id, run_id FROM artifacts INDEXED BY artifacts_expiry"
	" WHERE gone = 0 AND expires_ms > 0 AND expires_ms <= ?1 LIMIT ?2",
    [STMT_EXPIRED_TASKS] =
	"UPDATE runs SET task_expires_ms = 0 WHERE rowid IN (SELECT rowid"
	" FROM runs INDEXED BY runs_task_expiry WHERE task_expires_ms > 0"
	" AND task_expires_ms <= ?1 LIMIT ?2)",
    [STMT_ARTIFACT_GONE] = "UPDATE artifacts SET gone = 1 WHERE id = ?1",
    [STMT_EXPIRED_RUNS] =
	"SELECT id, requestor FROM runs INDEXED BY runs_expiry"
	" WHERE expires_ms > 0 AND expires_ms <= ?1 AND ended = 1 LIMIT ?2",
    [STMT_ARTIFACTS_OF] =
	"SELECT id, run_id FROM artifacts WHERE run_id = ?1 AND gone = 0",
    [STMT_DROP_ARTIFACTS] = "DELETE FROM artifacts WHERE run_id = ?1",
    [STMT_DROP_RUN] = "DELETE FROM runs WHERE requestor = ?2 AND id = ?1",
    [STMT_SHOWN] =
	"SELECT instance, awaiting, until_ms, log_until_ms, seq, log_seq,"
	" note, shown.view, shown.log FROM runs LEFT JOIN shown"
	" ON shown.run = runs.id AND shown.requestor = runs.requestor"
	" WHERE runs.requestor = ?1 AND runs.id = ?2",
    [STMT_SHOW] =
	"INSERT INTO shown SELECT id, requestor, ?4, ?5, ?6, ?8 IS NOT NULL,"
	" ?9 IS NOT NULL, ?7, ?8, ?9 FROM runs WHERE requestor = ?1"
	" AND id = ?2 AND instance = ?3 AND ended = 0"
	" ON CONFLICT(run) DO UPDATE SET awaiting = ?4, until_ms = ?5,"
	" log_until_ms = ?6, note = ?7,"
	" seq = seq + excluded.seq, log_seq = log_seq + excluded.log_seq,"
	" view = coalesce(?8, view), log = coalesce(?9, log)",
    [STMT_SEND_MAIL] =
	"INSERT INTO mail SELECT id, ?4, instance, ?5 FROM runs"
	" WHERE requestor = ?1 AND id = ?2 AND ended = 0 AND instance <> ?3"
	" ON CONFLICT(run, kind) DO UPDATE SET instance = excluded.instance,"
	" until_ms = max(until_ms, excluded.until_ms)"
	/* what is there already, or nearly, is asked for: no write */
	" WHERE until_ms < excluded.until_ms - 1000"
	" OR instance <> excluded.instance RETURNING instance",
    [STMT_READ_MAIL] = "SELECT run, kind, until_ms FROM mail"
		       " INDEXED BY mail_to WHERE instance = ?1",
    [STMT_EXPIRED_MAIL] = "DELETE FROM mail WHERE until_ms < ?1",
};
