/* SPDX-License-Identifier: Apache-2.0 */
/*
 * lua_resident.c - a resident's facts in a Lua worker, and the message between two runs, for
 * lua_job.c. The supervisor stops the worker between runs, and measures the CPU time.
 */
#include "worker/lua/lua_resident.h"

#include <string.h>

#include "worker/channel.h"
#include "worker/lua/lua_questions.h"
#include "worker/lua/state/lua_state.h"
#include "worker/lua/lua_steps.h"
#include "worker/progress.h"
#include "worker/signals.h"

static struct {
	uint64_t cell; /* counts the runs; 0: no resident */
	size_t name_len, lost_len;
	char name[MSG_NAME_MAX], lost[MSG_TEXT_MAX];
} resident;

static size_t copy_text(char *to, struct str from)
{
	memcpy(to, from.p, from.n);
	return from.n;
}

void lua_resident_take(const struct msg_stay *m)
{
	resident.cell = m->cell;
	resident.name_len = copy_text(resident.name, m->name);
	resident.lost_len = copy_text(resident.lost, m->lost);
	/* a cancel may have crossed the end of the run before; a new cancel comes again */
	signals_forget_cancel();
}

bool lua_resident_stays(void)
{
	return resident.cell > 0;
}

bool lua_resident_is_first(void)
{
	return resident.cell <= 1;
}

bool lua_resident_interrupted(void)
{
	return lua_resident_stays() && signals_cancelled();
}

void lua_resident_push(lua_State *L)
{
	if (!lua_resident_stays()) {
		lua_pushnil(L);
		return;
	}
	lua_createtable(L, 0, 3);
	lua_pushlstring(L, resident.name, resident.name_len);
	lua_setfield(L, -2, "name");
	lua_pushinteger(L, (lua_Integer)resident.cell);
	lua_setfield(L, -2, "cell");
	if (resident.lost_len == 0)
		return;
	lua_pushlstring(L, resident.lost, resident.lost_len);
	lua_setfield(L, -2, "lost");
}

void lua_resident_keep(void)
{
	static const char why[] =
	    "the code was ended, and what it had set until then stays";
	struct msg m = {
	    .type = MSG_KEPT,
	    .kept = {.kept = true, .memory_bytes = lua_state_used()}};

	if (signals_cancelled())
		m.kept.why = (struct str){why, sizeof(why) - 1};
	lua_questions_forget();
	lua_steps_forget();
	progress_forget();
	channel_send(&m);
}
