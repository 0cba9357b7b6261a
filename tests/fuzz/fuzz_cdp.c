/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Any bytes from Chromium's pipe: read in one piece, byte by byte and in uneven pieces,
 * the bytes must give the same messages. As events, whose texts are written by pages,
 * the bytes must do no harm to the tabs of a session.
 */
#include "tests/fuzz/fuzz.h"
#include "base/os/log.h"
#include "base/mem.h"
#include "browser/browser.h"
#include "browser/cdp/cdp_parse.h"
#include "browser/chromium.h"

#define MESSAGE_MAX 4096

static struct browser broker;
static struct session session = {
    .b = &broker, .requestor = (char *)"a", .context = (char *)"CTX"};

/* ---- messages ---- */

static const char *text_of(struct json_object *o)
{
	return json_object_to_json_string_ext(o, JSON_C_TO_STRING_PLAIN);
}

static void note(struct buf *out, const struct cdp_message *m)
{
	assert((m->tree == NULL) ==
	       (m->id == 0 && m->method == NULL && m->session == NULL &&
		m->params == NULL && m->result == NULL && m->error == NULL));
	if (m->tree == NULL) {
		buf_add_str(out, "lost\n");
		return;
	}
	assert(m->method != NULL || (m->result == NULL) != (m->error == NULL));
	buf_printf(out, "%s %s %u %s\n", m->method != NULL ? m->method : "-",
		   m->session != NULL ? m->session : "-", m->id,
		   m->error != NULL ? m->error : "-");
	buf_add_str(out, text_of(m->tree));
}

/* The messages that come of DATA in pieces of SIZES bytes, in turn. */
static struct buf read_in(const uint8_t *data, size_t n, const size_t sizes[3])
{
	struct cdp_parse p = {.max = MESSAGE_MAX};
	struct cdp_message m;
	struct buf out = {0};
	int turn = 0;

	for (size_t at = 0; at < n;) {
		size_t len = sizes[turn++ % 3];

		if (len > n - at)
			len = n - at;
		buf_add(&p.got, data + at, len);
		at += len;
		while (cdp_parse_next(&p, &m)) {
			note(&out, &m);
			json_object_put(m.tree);
		}
		assert(buf_len(&p.got) <= MESSAGE_MAX);
	}
	buf_fini(&p.got);
	return out;
}

/* ---- events ---- */

static void add_tab(const char *id, const char *target, const char *attached)
{
	struct tab *t = xcalloc(1, sizeof(*t));

	t->session = &session;
	memcpy(t->id, id, strlen(id));
	t->url = xstrdup("about:blank");
	t->title = xstrdup("");
	t->popups = json_object_new_array();
	TAILQ_INSERT_TAIL(&session.tabs, t, link);
	session.n_tabs++;
	broker.n_tabs++;
	if (target == NULL || attached == NULL)
		return;
	t->target = xstrdup(target);
	t->attached = xstrdup(attached);
	tab_hook(t, t->attached);
}

static void check_tabs(void)
{
	struct tab *t;
	unsigned n = 0;

	TAILQ_FOREACH(t, &session.tabs, link) {
		n++;
		assert(t->url != NULL && t->title != NULL);
		assert(tab_requests(t) <= TAB_REQUESTS_MAX);
		assert(json_object_array_length(t->popups) <= TAB_POPUPS_MAX);
		assert(t->attached == NULL ||
		       tab_attached(&broker, t->attached) != NULL);
	}
	assert(n == session.n_tabs && n == broker.n_tabs);
}

static void tell_tabs(const uint8_t *data, size_t size)
{
	struct cdp_parse p = {.max = CDP_MESSAGE_MAX};
	struct cdp_message m;
	struct tab *t;

	add_tab("tab_1", "T1", "A1");
	add_tab("tab_2", "T2", "A2");
	if (size % 2 == 1)
		add_tab("tab_3", NULL, NULL); /* in the making */
	buf_add(&p.got, data, size);
	while (cdp_parse_next(&p, &m)) {
		if (m.method != NULL)
			tab_event(&broker, m.session, m.method, m.params);
		json_object_put(m.tree);
		check_tabs();
	}
	buf_fini(&p.got);
	while ((t = TAILQ_FIRST(&session.tabs)) != NULL)
		tab_close(t, "PAGE_CRASHED", "the end", true);
	check_tabs();
	assert(broker.hooks == NULL);
}

static void begin(void)
{
	log_set_level(LOG_LEVEL_ERROR);
	TAILQ_INIT(&broker.calls);
	TAILQ_INIT(&broker.sessions);
	TAILQ_INIT(&session.tabs);
	TAILQ_INSERT_TAIL(&broker.sessions, &session, link);
	/* Chromium is not running */
	broker.chromium = chromium_new(&broker, NULL, -1);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	static const size_t cuts[][3] = {
	    {SIZE_MAX, SIZE_MAX, SIZE_MAX}, {1, 1, 1}, {7, 1, 64}};
	struct buf out[ARRAY_LEN(cuts)];

	if (broker.chromium == NULL)
		begin();
	for (size_t i = 0; i < ARRAY_LEN(cuts); i++) {
		out[i] = read_in(data, size, cuts[i]);
		assert(buf_len(&out[i]) == buf_len(&out[0]));
		assert(buf_len(&out[0]) == 0 ||
		       memcmp(buf_data(&out[i]), buf_data(&out[0]),
			      buf_len(&out[0])) == 0);
	}
	for (size_t i = 0; i < ARRAY_LEN(cuts); i++)
		buf_fini(&out[i]);
	tell_tabs(data, size);
	return 0;
}
