/* SPDX-License-Identifier: Apache-2.0 */
#include "supervisor/config/config.h"

#include <errno.h>
#include <limits.h>
#include <unistd.h>

#include "supervisor/config/config_keys.h"
#include "tests/unit/supervisor/config/config_fixture.h"

#define HEX "0123456789abcdef0123456789abcdef0123456789abcdef0123456789abcdef"
#define GRANT "[grant \"a\"]\n"
#define NETWORK                                                                \
	"with spaces between them: HOST:PORT such as api.example.org:443, "    \
	"*.example.org:443 for all names below, or HOST:PORT=METHOD:/PATH,"    \
	"..., as paddock template grant prints them"
#define HOSTS                                                                  \
	"with spaces between them: *, names such as example.org, "             \
	"*.example.org for those below one, addresses such as 192.0.2.7, "     \
	"[2001:db8::7] or 10.0.0.0/8, each with :PORT for that port alone"
#define REQ "[requestor \"a\"]\nuid = 7\n"

static const struct {
	const char *text, *errmsg;
} bad[] = {
    {"[server]\nlisten = 127.0.0.1\n",
     "f:2: listen = \"127.0.0.1\": expected ADDRESS:PORT such as "
     "127.0.0.1:8080 or [::1]:8080"},
    {"[server]\nlisten = ::1:80\n",
     "f:2: listen = \"::1:80\": expected ADDRESS:PORT such as 127.0.0.1:8080 "
     "or [::1]:8080"},
    {"[server]\nlisten = 127.0.0.1:65536\n",
     "f:2: listen = \"127.0.0.1:65536\": expected ADDRESS:PORT such as "
     "127.0.0.1:8080 or [::1]:8080"},
    {"[server]\n\n# c\nlisen = x\n",
     "f:4: lisen: unknown key in [server]; did you mean listen?"},
    {"[server]\naudience = x\n",
     "f:2: audience: paddockd does not check access tokens of an authorization "
     "server yet, so the key would protect nothing; remove it, and give each "
     "caller over HTTP a token_sha256 in a [requestor \"NAME\"]"},
    {"[server]\nfrobnicate = x\n",
     "f:2: frobnicate: unknown key in [server]; paddockd --print-config lists "
     "them all"},
    {"[limits]\nlisten = 127.0.0.1:1\n",
     "f:2: listen: unknown key in [limits]; it is one of [server]"},
    {"[browser]\nlisten = 127.0.0.1:1\n",
     "f:2: listen: unknown key in [browser]; it is one of [server]"},
    {"[server]\ntoken_sha256 = 00\n",
     "f:2: token_sha256: unknown key in [server]; it is one of [requestor "
     "\"NAME\"]"},
    {"[sever]\n", "f:1: [sever]: unknown section; did you mean [server]?"},
    {"[x]\n",
     "f:1: [x]: unknown section; expected [server], [store], [limits], "
     "[sandbox], [browser], [network], [secret \"NAME\"], [requestor \"NAME\"], [grant \"TEMPLATE\"] or [template \"TEMPLATE\"]"},
    {"[requestor]\n", "f:1: [requestor]: expected [requestor \"NAME\"] with 1 "
		      "to 32 of A-Z a-z 0-9 . _ @ - as NAME"},
    {"[requestor alice]\n",
     "f:1: [requestor alice]: expected [requestor \"NAME\"] with 1 to 32 of "
     "A-Z a-z 0-9 . _ @ - as NAME"},
    {"[requestor \"uid:7\"]\n",
     "f:1: [requestor \"uid:7\"]: expected [requestor \"NAME\"] with 1 to 32 "
     "of A-Z a-z 0-9 . _ @ - as NAME"},
    {"[requestor \"anonymous\"]\nuid = 1\n",
     "f:1: \"anonymous\" stands for callers without a token; choose another "
     "name"},
    {"[requestor \"aaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaa\"]\n",
     "f:1: [requestor \"aaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaa\"]: "
     "expected [requestor \"NAME\"] with 1 to 32 of A-Z a-z 0-9 . _ @ - as "
     "NAME"},
    {"[grant \"aaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaa"
     "aaaaaaaaaaaaaaaaaaaaaaaaaaaaaa\"]\n",
     "f:1: the name of the section is too long"},
    {"[grant \"Csv\"]\n",
     "f:1: [grant \"Csv\"]: expected [grant \"TEMPLATE\"] with a templateId as "
     "TEMPLATE, or * for all"},
    {"[grant]\n",
     "f:1: [grant]: expected [grant \"TEMPLATE\"] with a templateId as "
     "TEMPLATE, or * for all"},
    {"[grant \"a\" ]\n",
     "f:1: [grant \"a\" ]: expected [grant \"TEMPLATE\"] with a templateId as "
     "TEMPLATE, or * for all"},
    {GRANT "tool = click\n",
     "f:2: tool: unknown key in [grant \"a\"]; did you mean tools?"},
    {GRANT "tools = click\ntools = navigate\n",
     "f:3: tools: the key came before in this file and section; name all in "
     "one line, with spaces between them"},
    {GRANT "tools = none\n",
     "f:2: tools = \"none\": expected all, or with spaces between them: "
     "create_tab, navigate, wait_for_stable, get_page_info, get_page_content, "
     "close_tab, click, type_text, press_key, wait, find_element, screenshot, "
     "keep_session, close_session, list_sessions"},
    {GRANT "hosts = example.org http://example.org/\n",
     "f:2: hosts = \"example.org http://example.org/\": expected " HOSTS},
    {GRANT "hosts = 10.0.0.1/8\n",
     "f:2: hosts = \"10.0.0.1/8\": expected " HOSTS},
    {GRANT "hosts = ::1\n", "f:2: hosts = \"::1\": expected " HOSTS},
    {GRANT "read_paths = /\n",
     "f:2: read_paths = \"/\": expected absolute paths, but for /, with spaces "
     "between them"},
    {GRANT "network = *:443\n", "f:2: network = \"*:443\": expected " NETWORK},
    {GRANT "network = db.example.org\n",
     "f:2: network = \"db.example.org\": expected " NETWORK},
    {GRANT "network = a.b:443=GET:\n",
     "f:2: network = \"a.b:443=GET:\": expected " NETWORK},
    {GRANT "secrets = 1st\n",
     "f:2: secrets = \"1st\": expected names of letters, digits and . _ -, "
     "beginning with a letter, spaces between them"},
    {"[secret \"a\"]\nhosts = a.b\nbasic = me\n",
     "f: [secret \"a\"] needs a file, which has the value"},
    {"[secret \"a\"]\nfile = /f\nhosts = a.b *\nbasic = me\n",
     "f: [secret \"a\"] needs hosts, and * is none: the value would go to any"},
    {"[secret \"a\"]\nfile = /f\nhosts = a.b\nbasic = me\nquery = key\n",
     "f: [secret \"a\"] needs one of header, basic and query, which say where in "
     "a request the value goes"},
    {"[secret \"a\"]\nfile = /f\nhosts = a.b\nbasic = me\nplaceholder = x\n",
     "f: [secret \"a\"] needs 8 bytes or more in its placeholder, which is "
     "searched for"},
    {"[secret \"a\"]\nheader = Authorization: Bearer\n",
     "f:2: header = \"Authorization: Bearer\": expected NAME: and a text with {} "
     "in the value's place, such as Authorization: Bearer {}"},
    {"[secret \"a\"]\nvariable = a\n",
     "f:2: variable = \"a\": expected a name of at most 63 capitals, digits and "
     "_, such as GH_TOKEN"},
    {"[secret \"a\"]\nrules = GET\n",
     "f:2: rules = \"GET\": expected METHOD:/PATH such as GET:/repos/*, with "
     "spaces between several"},
    {GRANT "locks = 1\n", "f:2: locks = \"1\": expected yes or no"},
    {GRANT "digest = abc\n",
     "f:2: digest = \"abc\": expected 64 lower-case hexadecimal digits, as "
     "paddock template grant prints them; spaces between several"},
    {"[server] listen\n", "f:1: something follows the ']' of the section"},
    {" [server]\n", "f:1: a section begins at the start of its line"},
    {"listen = x\n",
     "f:1: a key before the first section; begin with [server]"},
    {"[server]\nlisten\n", "f:2: expected KEY = VALUE, [SECTION] or # COMMENT"},
    {"[server]\nlisten\nlog_level = loud\n",
     "f:2: expected KEY = VALUE, [SECTION] or # COMMENT"},
    {"[server\n", "f:1: expected KEY = VALUE, [SECTION] or # COMMENT"},
    {"[server]\nlog_level = info\nlog_level = warn\n",
     "f:3: log_level: the key came before in this file and section"},
    {REQ "[server]\n[requestor \"a\"]\nuid = 8\n",
     "f:5: uid: the key came before in this file and section"},
    {"[server]\nlog_level = loud\n",
     "f:2: log_level = \"loud\": expected one of: error, warn, info, debug"},
    {"[server]\nlog_level =\n",
     "f:2: log_level = \"\": expected one of: error, warn, info, debug"},
    {"[server]\npublish_templates = Csv\n",
     "f:2: publish_templates = \"Csv\": expected templateIds with spaces between "
     "them"},
    {"[template \"*\"]\n",
     "f:1: [template \"*\"]: expected [template \"TEMPLATE\"] with a templateId as "
     "TEMPLATE"},
    {"[template \"small\"]\nmax_memory_bytes = 1K\n",
     "f:2: max_memory_bytes = \"1K\": expected a size such as 4096 (bytes), "
     "64K, 16M or 1G, 0 or from 1048576 to 1099511627776 bytes"},
    {"[requestor \"small\"]\nmax_memory_bytes = 1K\n",
     "f:2: max_memory_bytes = \"1K\": expected a size such as 4096 (bytes), "
     "64K, 16M or 1G, 0 or from 1048576 to 1099511627776 bytes"},
    {"[template \"small\"]\nmax_open_files = 15\n",
     "f:2: max_open_files = \"15\": expected a whole number 0 or from 16 to "
     "1048576"},
    {"[server]\nstate_dir = var\n",
     "f:2: state_dir = \"var\": expected an absolute path"},
    {"[server]\ntemplates = /a b\n",
     "f:2: templates = \"/a b\": expected absolute paths with spaces between "
     "them"},
    {"[server]\ntemplates = /a\n log_level = info\n",
     "f:3: templates = \"log_level = info\": expected absolute paths with "
     "spaces between them"},
    {"[server]\nlog_level = info\n log_file = /x\n",
     "f:3: the line begins with a space, so it would go on with log_level, "
     "which is no list"},
    {"[limits]\nmax_concurrent_runs = 0\n",
     "f:2: max_concurrent_runs = \"0\": expected a whole number from 1 to "
     "10000"},
    {"[limits]\nmax_concurrent_runs = 5s\n",
     "f:2: max_concurrent_runs = \"5s\": expected a whole number from 1 to "
     "10000"},
    {"[limits]\nmax_concurrent_runs = -1\n",
     "f:2: max_concurrent_runs = \"-1\": expected a whole number from 1 to "
     "10000"},
    {"[limits]\nmax_concurrent_runs =\n",
     "f:2: max_concurrent_runs = \"\": expected a whole number from 1 to "
     "10000"},
    {"[limits]\ninline_wait_ms = fast\n",
     "f:2: inline_wait_ms = \"fast\": expected a duration such as 1500 "
     "(milliseconds), 10s, 5m, 24h or 7d, from 0 to 3600000 milliseconds"},
    {"[limits]\ninline_wait_ms = 2h\n",
     "f:2: inline_wait_ms = \"2h\": expected a duration such as 1500 "
     "(milliseconds), 10s, 5m, 24h or 7d, from 0 to 3600000 milliseconds"},
    {"[limits]\ninline_wait_ms = 99999999999999999999\n",
     "f:2: inline_wait_ms = \"99999999999999999999\": expected a duration "
     "such as 1500 (milliseconds), 10s, 5m, 24h or 7d, from 0 to 3600000 "
     "milliseconds"},
    {"[limits]\nmax_memory_bytes = 9223372036854775807T\n",
     "f:2: max_memory_bytes = \"9223372036854775807T\": expected a size such "
     "as 4096 (bytes), 64K, 16M or 1G, from 1048576 to 1099511627776 bytes"},
    {"[limits]\nmax_message_bytes = 16MB\n",
     "f:2: max_message_bytes = \"16MB\": expected a size such as 4096 "
     "(bytes), 64K, 16M or 1G, from 65536 to 1073741824 bytes"},
    {"[limits]\nmax_ttl_ms = 1h\n",
     "f: default_ttl_ms (86400000) is above max_ttl_ms (3600000); lower the "
     "one or raise the other"},
    {"[sandbox]\nrequire_isolation = some\n",
     "f:2: require_isolation = \"some\": expected one of: full, userns, "
     "container, restricted"},
    {"[requestor \"bob\"]\n",
     "f: [requestor \"bob\"] needs a token_sha256 or a uid, by which it is "
     "known"},
    {"[requestor \"bob\"]\ntoken_sha256 = s3cret\n",
     "f:2: token_sha256: expected 64 hexadecimal digits, the SHA-256 of the "
     "token"},
    {"[requestor \"bob\"]\ntoken_sha256 = " HEX "0\n",
     "f:2: token_sha256: expected 64 hexadecimal digits, the SHA-256 of the "
     "token"},
    {"[requestor \"bob\"]\nuid = 4294967295\n",
     "f:2: uid = \"4294967295\": expected a whole number from 0 to "
     "4294967294"},
    {REQ "trust_level = root\n",
     "f:3: trust_level = \"root\": expected one of: local, remote"},
    {REQ "weight = 0\n",
     "f:3: weight = \"0\": expected a whole number from 1 to 1000"},
    {REQ "templates = a-b\n",
     "f:3: templates = \"a-b\": expected templateIds with spaces between "
     "them"},
    {REQ "browser_tools = click keep_session\n",
     "f:3: browser_tools = \"click keep_session\": expected all, none, or with "
     "spaces between them: create_tab, navigate, wait_for_stable, "
     "get_page_info, get_page_content, close_tab, click, type_text, press_key, "
     "wait, find_element, screenshot, close_session, list_sessions"},
    {REQ "browser_tools = csv_profile\n",
     "f:3: browser_tools = \"csv_profile\": expected all, none, or with spaces "
     "between them: create_tab, navigate, wait_for_stable, get_page_info, "
     "get_page_content, close_tab, click, type_text, press_key, wait, "
     "find_element, screenshot, close_session, list_sessions"},
    {REQ "[requestor \"b\"]\nuid = 7\n",
     "f: [requestor \"a\"] and [requestor \"b\"] have the same uid"},
    {"[requestor \"a\"]\ntoken_sha256 = " HEX
     "\n[requestor \"b\"]\ntoken_sha256 = " HEX "\n",
     "f: [requestor \"a\"] and [requestor \"b\"] have the same token_sha256"},
    {"[server]\nuser = \xFF\n", "f:2: this is not text in UTF-8"},
    {"[server]\nuser = a\x1b[1m\n", "f:2: there is a control character"},
    {"[server]\ntemplates = /a\r/b\n", "f:2: there is a control character"},
};

static void refusals(void)
{
	for (size_t i = 0; i < ARRAY_LEN(bad); i++) {
		struct config *c = config_new(0);

		is_int(parse(c, bad[i].text), -EINVAL, "refused: case %zu", i);
		is_str(errmsg, bad[i].errmsg,
		       "the refusal of a configuration has the right text");
		config_free(c);
	}
}

static void odd_bytes(void)
{
	static const char nul[] = "[server]\nuser = a\0b\n";
	struct config *c = config_new(0);
	char line[300];

	is_int(config_read_text(c, "f", nul, sizeof(nul) - 1, errmsg,
				sizeof(errmsg)),
	       -EINVAL, "a NUL is refused");
	is_str(errmsg, "f:2: this is not text in UTF-8",
	       "the refusal of a NUL has the right text");
	memset(line, 'x', sizeof(line));
	memcpy(line, "[server]\nuser = ", 16);
	line[sizeof(line) - 1] = '\0';
	is_int(parse(c, line), -EINVAL, "a long line is not cut but refused");
	is_str(errmsg,
	       "f:2: the line has more than 198 bytes; a list goes on in a "
	       "line that begins with a space, and a comment in one of its own",
	       "the refusal of a long line says how to split the line");
	is_int(parse(c, ""), 0, "an empty file is valid");
	is_int(parse(c, "\xEF\xBB\xBF[server]\r\nlog_level = warn\r\n"), 0,
	       "a file with a byte order mark and CR LF is valid");
	is_str(c->log_level, "warn", "a value has no carriage return");
	config_free(c);
}

static void grants(void)
{
	struct config *c = config_new(0);
	const struct config_grant *g;

	is_int(parse(c,
		     "[grant \"*\"]\nread_paths = /srv/all\n"
		     "[grant \"csv_profile\"]\ntools = click\n\tnavigate\n"
		     "hosts = * *.example.org:443\n\t[::1]:80 10.0.0.0/8\n"
		     "digest = " HEX " " HEX "\nlocks = yes\n"
		     "[grant \"t23456789012345678901234567890123456789012345678"
		     "901234567890123\"]\ntools = all\n"),
	       0, "grants: %s", errmsg);
	is_int(c->n_grants, 3, "three grants are read");
	g = &c->grants[1];
	is_str(g->name, "csv_profile", "the second grant has its name");
	is_str(g->tools, "click navigate", "a grant has tools");
	is_str(g->hosts, "* *.example.org:443 [::1]:80 10.0.0.0/8",
	       "a grant has hosts");
	is_str(g->digest, HEX " " HEX, "a grant has digests");
	ok(g->locks, "a grant has locks");
	ok(g->read_paths == NULL, "a grant has no read_paths unless given");
	is_str(c->grants[2].tools, "all", "the longest name has its own");
	is_int(parse(c, "[grant \"csv_profile\"]\ntools = wait\n"), 0,
	       "a second file with a grant is read");
	is_int(c->n_grants, 3, "a second file continues the same grant");
	is_str(c->grants[1].tools, "wait",
	       "a second file replaces the tools of a grant");
	is_int(config_add_grant(c, "csv_profile:tools=click wait", errmsg,
				sizeof(errmsg)),
	       0, "a flag --grant is read");
	is_str(c->grants[1].tools, "wait click wait",
	       "a flag --grant adds tools");
	is_int(config_add_grant(c, "hosts=example.org", errmsg, sizeof(errmsg)),
	       0, "a flag --grant without a name is read");
	is_str(c->grants[0].hosts, "example.org",
	       "a flag --grant without a name is for all templates");
	is_int(config_add_grant(c, "new_one:locks=yes", errmsg, sizeof(errmsg)),
	       0, "a flag --grant with a new name is read");
	is_int(c->n_grants, 4,
	       "a flag --grant with a new name makes a new grant");
	is_int(config_add_grant(c, "x", errmsg, sizeof(errmsg)), -EINVAL,
	       "a flag --grant without key and value is refused");
	is_str(errmsg,
	       "--grant x: expected [TEMPLATE:]KEY=VALUE, with tools, hosts, "
	       "read_paths, templates, network, secrets, locks or digest "
	       "as KEY",
	       "the refusal of the flag names the keys");
	is_int(config_add_grant(c, "No:tools=all", errmsg, sizeof(errmsg)),
	       -EINVAL, "a flag --grant with a bad templateId is refused");
	is_str(errmsg,
	       "--grant No:tools=all: No is no templateId; expected "
	       "[TEMPLATE:]KEY=VALUE",
	       "the refusal of a bad templateId has the form");
	is_int(config_add_grant(c, "a:hosts=[x]", errmsg, sizeof(errmsg)),
	       -EINVAL, "a flag --grant with a bad host is refused");
	is_str(errmsg, "--grant hosts = \"[x]\": expected " HOSTS,
	       "the refusal of a bad host says what is expected");
	config_free(c);
}

static void values(void)
{
	struct config *c = config_new(0);
	const struct config_requestor *r;

	is_int(parse(c, "; a comment\n[server]\n"
			"listen = [::1]:0 ; any port\n"
			"templates = /a /b\n\t/c\n# between\n  /d\n"
			"log_file = /var/log/p\nlog_file_x = 1\n"),
	       -EINVAL, "the first error stops it");
	is_int(
	    parse(
		c,
		"[server] # what it is\nlisten: localhost:80 # and why\n"
		"templates=/a /b\t# two\n\t/c # one more\n"
		"publish_templates = no\nlog_file = /l#o ; g\nuser = https://i.example/x\n"
		"[limits]\nmax_run_timeout_ms = 10s\n"
		"inline_wait_ms=0\nmax_ttl_ms = 2d\n"
		"artifact_ttl_ms = 5m\ndrain_timeout_ms = 1500ms\n"
		"max_memory_bytes = 2G\nmax_message_bytes = 64K\n"
		"max_output_bytes = 3M\nmax_artifact_bytes = 1T\n"
		"[requestor \"al.ice@x\"]\n"
		"token_sha256 = ABCDEF0123456789abcdef0123456789"
		"abcdef0123456789abcdef0123456789\n"
		"templates = a_b\n c2 d\nweight = 3\n"
		"browser_tools = wait\n  navigate\n"
		"trust_level = local\n[requestor \"b\"]\nuid = 0\n"),
	    0, "a good file: %s", errmsg);
	is_str(c->listen, "localhost:80",
	       "a colon is accepted in place of '='");
	is_int(c->n_templates, 3, "a list goes on in the next line");
	is_str(c->n_templates == 3 ? c->templates[2] : NULL, "/c",
	       "a list continued in the next line has the value");
	is_str(c->log_file, "/l#o", "a comment has a space before it");
	ok(c->templates_given, "templates were given");
	ok(!config_publishes(c, "a"), "publish = no publishes no template");
	is_str(c->user, "https://i.example/x",
	       "a text value is kept unchanged");
	is_int(c->max_run_timeout_ms, 10000, "s means seconds");
	is_int(c->inline_wait_ms, 0, "a zero is accepted");
	is_int(c->max_ttl_ms, 172800000, "d means days");
	is_int(c->artifact_ttl_ms, 300000, "m means minutes");
	is_int(c->drain_timeout_ms, 1500, "ms means milliseconds");
	is_int(c->max_memory_bytes, INT64_C(2) << 30, "G means gibibytes");
	is_int(c->max_message_bytes, 65536, "K means kibibytes");
	is_int(c->max_output_bytes, 3 << 20, "M means mebibytes");
	is_int(c->max_artifact_bytes, INT64_C(1) << 40, "T means tebibytes");
	is_int(c->max_concurrent_runs, 5, "a missing key has the default");
	is_int(c->n_requestors, 2, "two requestors are read");
	r = &c->requestors[0];
	is_str(r->name, "al.ice@x", "the first requestor has its name");
	ok(r->token_sha256[0] == 'a', "digests are lower case");
	is_str(r->templates, "a_b c2 d",
	       "a list of templates has single spaces");
	is_str(r->browser_tools, "wait navigate",
	       "a requestor has browser tools");
	is_int(r->weight, 3, "a requestor has a weight");
	is_int(r->uid, -1, "a requestor without uid has none");
	is_str(r->trust_level, "local", "a requestor has a trust level");
	is_int(c->requestors[1].uid, 0, "uid 0 is a uid");
	is_int(c->requestors[1].weight, 1, "weight 1 by default");
	is_str(c->requestors[1].trust_level, NULL, "trust by the connection");
	is_int(parse(c, "[server]\nlisten =\nuser =\ntemplates = /z\n"
			"[requestor \"al.ice@x\"]\ntemplates =\nweight = 2\n"),
	       0, "a second file with a requestor is read");
	is_str(c->listen, NULL, "an empty value takes the key back");
	is_int(c->n_templates, 1, "a second file's list replaces the list");
	is_int(c->requestors[0].weight, 2,
	       "a second file changes a requestor's weight");
	is_str(c->requestors[0].templates, NULL,
	       "a second file clears a requestor's list");
	is_int(c->n_requestors, 2,
	       "a second file keeps the number of requestors");
	config_free(c);
}

static void flags(void)
{
	char cwd[PATH_MAX], want[PATH_MAX + 16];
	struct config *c = config_new(0);

	if (getcwd(cwd, sizeof(cwd)) == NULL)
		cwd[0] = '\0';
	snprintf(want, sizeof(want), "%s/a b", cwd);
	is_int(config_set(c, "server", "listen", "x", errmsg, sizeof(errmsg)),
	       -EINVAL, "a bad value of a flag is refused");
	is_str(errmsg,
	       "listen = \"x\": expected ADDRESS:PORT such as 127.0.0.1:8080 "
	       "or [::1]:8080",
	       "the refusal of a bad flag says what is expected");
	is_int(config_set(c, "server", "lisen", "x", errmsg, sizeof(errmsg)),
	       -EINVAL, "an unknown key");
	is_int(
	    config_set(c, "requestor", "weight", "1", errmsg, sizeof(errmsg)),
	    -EINVAL, "requestors have no flags");
	config_clear_templates(c);
	is_int(
	    config_set(c, "server", "templates", "a b", errmsg, sizeof(errmsg)),
	    0, "a folder with a space is added");
	is_int(
	    config_set(c, "server", "templates", "/c", errmsg, sizeof(errmsg)),
	    0, "a second folder of templates is added");
	is_int(c->n_templates, 2, "two folders are set");
	is_str(c->n_templates == 2 ? c->templates[0] : NULL, want,
	       "the first from here");
	is_int(config_set(c, "server", "templates", "", errmsg, sizeof(errmsg)),
	       -EINVAL, "no folder is no folder");
	is_int(
	    config_set(c, "server", "log_file", "a\nb", errmsg, sizeof(errmsg)),
	    -EINVAL, "a line break in the value of a flag is refused");
	is_int(config_set(c, "server", "log_file", "a\x7F", errmsg,
			  sizeof(errmsg)),
	       -EINVAL, "DEL in the value of a flag is refused");
	is_int(config_set(c, "server", "log_file", "l", errmsg, sizeof(errmsg)),
	       0, "a relative path");
	ok(c->log_file[0] == '/',
	   "a relative path of a log file is made absolute");
	config_free(c);
}

static void printing(void)
{
	struct config *a = config_new(0), *b = config_new(0);
	char *first, *second;

	parse(a, "[server]\nlisten = [::1]:9\ntemplates = /a /b\n"
		 "[limits]\nmax_ttl_ms = 2d\n"
		 "[sandbox]\nrequire_isolation = userns\n"
		 "[requestor \"x\"]\nuid = 5\ntemplates = a b c\n"
		 "browser_tools = none\n"
		 "[grant \"*\"]\nhosts = * 127.0.0.1:80\ndigest = " HEX "\n"
		 "[grant \"b\"]\nlocks = yes\nsecrets = a b\n");
	first = printed(a);
	is_int(parse(b, first), 0, "printed configuration can be read: %s",
	       errmsg);
	second = printed(b);
	is_str(second, first,
	       "printed configuration is the same after reading");
	free(first);
	parse(a, "[requestor \"x\"]\ntoken_sha256 = " HEX "\n");
	first = printed(a);
	ok(strstr(first, "token_sha256 = " HEX) == NULL,
	   "no token's digest is printed");
	ok(strstr(first, "# token_sha256 is set, and not shown") != NULL,
	   "a comment tells that a token is set");
	free(first);
	free(second);
	config_free(a);
	config_free(b);
}

static void published(void)
{
	static const struct {
		const char *value, *id;
		bool is;
	} rows[] = {
	    {"yes", "csv", true},	    {"no", "run_python", false},
	    {"csv pdf", "pdf", true},	    {"csv pdf", "run_lua", false},
	    {"search", "csv", false},	    {"search", "search", false},
	    {"search", "run_bash", true},   {"search", "run_lua", true},
	    {"search", "run_node", true},   {"search", "run_python", true},
	    {"search", "run_other", false},
	};

	for (size_t i = 0; i < ARRAY_LEN(rows); i++) {
		struct config *c = config_new(0);
		char text[64];

		snprintf(text, sizeof(text),
			 "[server]\npublish_templates = %s\n", rows[i].value);
		ok(parse(c, text) == 0 &&
		       config_publishes(c, rows[i].id) == rows[i].is,
		   "publish_templates = %s publishes %s: %d", rows[i].value,
		   rows[i].id, rows[i].is);
		config_free(c);
	}
}

int main(void)
{
	refusals();
	odd_bytes();
	grants();
	values();
	published();
	flags();
	printing();
	return tap_done();
}
