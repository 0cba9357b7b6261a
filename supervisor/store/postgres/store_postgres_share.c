/* SPDX-License-Identifier: Apache-2.0 */
/*
 * store_postgres_share.c - a step of PostgreSQL's schema: each node's share of a
 * requestor's limits. The file has no code: a wrong statement shows in the tests.
 */
#include "supervisor/store/postgres/store_postgres_schema.h"

#define KEY " text COLLATE \"C\" NOT NULL"
#define NUMBER " bigint NOT NULL"
#define NODE KEY " REFERENCES node(id) ON DELETE CASCADE"

/*
 * share: the grant of a node; deleted with the node. share_cpu: the CPU time of each node
 * by minute, for an hour, also of dead nodes. paddock_share() grants NAME the wanted
 * share of WHO's limits, as far as the other nodes have left room, and takes back what
 * NAME no longer wants, except a share in use. Of the rate of calls half is divided
 * equally among all nodes, whether or not a node asked: so the first call at a node need
 * not wait. One transaction at a time is served: a second gets null and asks again, since
 * a transaction that waited here could be awaited elsewhere.
 */
const char store_postgres_share[] =
    "CREATE TABLE share("
    " requestor" KEY ", node" NODE ", runs" NUMBER ", rate" NUMBER ","
    " PRIMARY KEY(requestor, node)) WITH (fillfactor = 50);"
    "CREATE INDEX share_of ON share(node);"
    "CREATE TABLE share_cpu("
    " requestor" KEY ", minute" NUMBER ", node" KEY ", ms" NUMBER ","
    " PRIMARY KEY(requestor, minute, node)) WITH (fillfactor = 50);"
    "CREATE FUNCTION paddock_share(who text, name text, runs_used bigint,"
    " runs_wanted bigint, runs_most bigint, rate_wanted bigint,"
    " rate_most bigint, cpu bigint, OUT runs_given bigint,"
    " OUT rate_given bigint, OUT cpu_others bigint)"
    " LANGUAGE plpgsql AS $$"
    "DECLARE now_minute bigint := paddock_now() / 60000; part bigint;"
    "BEGIN"
    " IF NOT pg_try_advisory_xact_lock(hashtextextended("
    "   'share ' || current_schema() || ' ' || who, 0)) THEN RETURN; END IF;"
    " SELECT rate_most / (2 * greatest(count(*), 1)) INTO part FROM node;"
    " SELECT least(runs_wanted, runs_most - coalesce(sum(s.runs), 0)),"
    "   least(greatest(rate_wanted, part),"
    "     rate_most - coalesce(sum(greatest(s.rate, part)), 0))"
    "  INTO runs_given, rate_given"
    "  FROM node LEFT JOIN share AS s ON s.node = node.id AND s.requestor = who"
    "  WHERE node.id <> name;"
    " runs_given := greatest(runs_given, runs_used, 0);"
    " rate_given := greatest(rate_given, 0);"
    " INSERT INTO share VALUES(who, name, runs_given, rate_given)"
    "  ON CONFLICT (requestor, node) DO UPDATE"
    "  SET runs = excluded.runs, rate = excluded.rate"
    "  WHERE share.runs <> excluded.runs OR share.rate <> excluded.rate;"
    " IF cpu > 0 THEN"
    "  INSERT INTO share_cpu VALUES(who, now_minute, name, cpu)"
    "   ON CONFLICT (requestor, minute, node) DO UPDATE"
    "   SET ms = share_cpu.ms + excluded.ms;"
    "  DELETE FROM share_cpu WHERE requestor = who"
    "   AND minute <= now_minute - 60 AND node = name;"
    " END IF;"
    " SELECT coalesce(sum(ms), 0) INTO cpu_others FROM share_cpu"
    "  WHERE requestor = who AND minute > now_minute - 60 AND node <> name;"
    "END$$;"
    "UPDATE paddock_schema SET version = 10;";
