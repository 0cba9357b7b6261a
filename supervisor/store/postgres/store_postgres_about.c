/* SPDX-License-Identifier: Apache-2.0 */
/*
 * store_postgres_about.c - queries the identity, the schema version and the
 * health of the database server: for store_postgres_open.c, which refuses an
 * unfit server, for the heartbeat, and for checks before a start. A failure is
 * -errno and text.
 */
#include "supervisor/store/postgres/store_postgres_private.h"

#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/clock.h"
#include "base/mem.h"
#include "supervisor/store/postgres/store_postgres_schema.h"

#define LEAST_SERVER 130000
#define COUNT_NODES                                                            \
	"SELECT count(*) FROM node WHERE heartbeat_ms > paddock_now() - lease_ms"

#define WRITES                                                                 \
	"SELECT CASE WHEN pg_is_in_recovery() THEN 's'"                        \
	" WHEN current_setting('transaction_read_only') = 'on' THEN 'r'"       \
	" ELSE 'w' END"

/*
 * The system identifier of the database cluster, and the timeline, which each
 * promotion of a standby increases.
 */
#define LINEAGE                                                                \
	"SELECT system_identifier || ' ' || ('x' || substr(pg_walfile_name("   \
	"pg_current_wal_lsn()), 1, 8))::bit(32)::bigint FROM pg_control_system()"

/*
 * Detect a former primary that does not know that a standby has been promoted:
 * writes there are lost, and no node sees a heartbeat there. Where a hoster
 * denies the query, nothing is known.
 */
static int check_lineage(struct pulse *u, struct pq_link *l)
{
	char text[2 * NUMBER_SIZE] = "", *space;
	int64_t timeline;
	bool is_older;
	int rc = pq_link_ask(l, LINEAGE, text, sizeof(text));

	if (rc != 0)
		return l->broken ? rc : 0;
	space = strchr(text, ' ');
	if (space == NULL)
		return 0;
	*space = '\0';
	timeline = strtoll(space + 1, NULL, 10);
	pthread_mutex_lock(&u->lock);
	is_older = strcmp(text, u->cluster) == 0 && timeline < u->timeline;
	if (!is_older) {
		snprintf(u->cluster, sizeof(u->cluster), "%.*s",
			 NUMBER_SIZE - 1, text);
		u->timeline = timeline;
	}
	pthread_mutex_unlock(&u->lock);
	if (is_older)
		snprintf(l->words, sizeof(l->words), "it is an older primary");
	return is_older ? -ESTALE : 0;
}

/*
 * A server that takes no writes is useless: a URL with several hosts must name
 * another host.
 */
int store_postgres_check_writable(struct pulse *u, struct pq_link *l,
				  bool *standby)
{
	char how[NUMBER_SIZE] = "";
	int rc = pq_link_ask(l, WRITES, how, sizeof(how));

	*standby = how[0] == 's' || how[0] == 'r';
	if (rc != 0 || !*standby)
		return rc != 0 ? rc : check_lineage(u, l);
	snprintf(l->words, sizeof(l->words), "%s",
		 how[0] == 's' ? "it is a standby, which is read-only"
			       : "it was set read-only");
	return -EREMOTEIO;
}

/* The encoding must be UTF-8, since texts may have any character. */
static int check_encoding(struct pq_link *l)
{
	const char *encoding =
	    l->pq->parameterStatus(l->conn, "server_encoding");

	if (encoding == NULL || strcmp(encoding, "UTF8") == 0)
		return 0;
	snprintf(l->words, sizeof(l->words),
		 "its encoding is %.20s, and a database of paddock's has UTF8 "
		 "(CREATE DATABASE ... ENCODING 'UTF8' TEMPLATE template0)",
		 encoding);
	return -EPROTONOSUPPORT;
}

int store_postgres_note_server(struct postgres *p)
{
	const struct pq *pq = p->link.pq;
	const char *version =
	    pq->parameterStatus(p->link.conn, "server_version");

	p->about =
	    (struct store_database){.schema_known = STORE_POSTGRES_VERSION};
	/* "15.13 (Debian 15.13-0+deb12u1)": cut the build */
	if (version != NULL)
		snprintf(p->about.version, sizeof(p->about.version), "%.*s",
			 (int)strcspn(version, " "), version);
	if (check_encoding(&p->link) != 0)
		return -EPROTONOSUPPORT;
	if (pq->serverVersion(p->link.conn) >= LEAST_SERVER)
		return store_postgres_check_writable(&p->pulse, &p->link,
						     &p->about.standby);
	snprintf(p->link.words, sizeof(p->link.words),
		 "PostgreSQL there is older than 13");
	return -EPROTONOSUPPORT;
}

int store_postgres_schema(struct postgres *p, int64_t *version)
{
	char text[NUMBER_SIZE] = "";
	int rc = pq_link_ask(&p->link, "SELECT to_regclass('paddock_schema')",
			     text, sizeof(text));

	if (rc == 0 && text[0] != '\0')
		rc = pq_link_ask(&p->link, "SELECT version FROM paddock_schema",
				 text, sizeof(text));
	*version = p->about.schema = rc == 0 ? strtoll(text, NULL, 10) : 0;
	return rc;
}

int store_postgres_schema_ok(struct postgres *p, int64_t version)
{
	if (version <= STORE_POSTGRES_VERSION)
		return 0;
	snprintf(p->link.words, sizeof(p->link.words),
		 "its schema has version %" PRId64
		 ", and this paddockd knows %d",
		 version, STORE_POSTGRES_VERSION);
	return -EPROTONOSUPPORT;
}

/* Count the live nodes by SQL, and measure the round trip. */
static int count_nodes(struct postgres *p, const char *sql)
{
	char n[NUMBER_SIZE] = "";
	int64_t us = clock_mono_us();
	int rc = p->link.is_pipeline
		     ? store_postgres_ask(p, sql, 0, NULL, n, sizeof(n))
		     : pq_link_ask(&p->link, sql, n, sizeof(n));

	p->about.latency_us = clock_mono_us() - us;
	p->about.nodes = strtoll(n, NULL, 10);
	return rc;
}

int store_postgres_count_nodes(struct postgres *p)
{
	return count_nodes(p, COUNT_NODES);
}

/* The heartbeat counts nodes; before the first heartbeat this function counts. */
void store_postgres_about(struct store *s, struct store_database *about)
{
	struct postgres *p = postgres_of(s);

	if (p == NULL)
		return;
	/* an open database has this version */
	p->about.schema = STORE_POSTGRES_VERSION;
	p->about.reachable =
	    store_postgres_is_open(s) &&
	    (p->about.nodes > 0 || store_postgres_count_nodes(p) == 0);
	*about = p->about;
}

int store_postgres_look(struct store *s, struct store_database *about)
{
	struct postgres *p = s->db = xcalloc(1, sizeof(*p));
	int64_t version;
	int rc;

	store_postgres_pulse_init(&p->pulse);
	rc = pq_link_open(&p->link, s->url);
	if (rc == 0)
		rc = store_postgres_note_server(p);
	if (rc == 0)
		rc = store_postgres_schema(p, &version);
	if (rc == 0)
		rc = store_postgres_schema_ok(p, version);
	if (rc == 0) /* without tables no node exists */
		rc = count_nodes(p, version > 0 ? COUNT_NODES : "SELECT 0");
	p->about.reachable = rc == 0;
	memcpy(p->about.name, about->name, sizeof(about->name));
	*about = p->about;
	if (rc != 0)
		store_postgres_failed(s, rc);
	pq_link_close(&p->link);
	return rc;
}
