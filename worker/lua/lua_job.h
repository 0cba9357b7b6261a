/* SPDX-License-Identifier: Apache-2.0 */
/* lua_job.h - one run of a Lua template. */
#ifndef WORKER_LUA_LUA_JOB_H
#define WORKER_LUA_LUA_JOB_H

/*
 * Once, in the zygote, before its sandbox: all that its workers inherit. A Lua
 * state with its libraries and the run API, the handlers of SIGTERM (cancel),
 * SIGSYS and SIGXCPU (report and die) and SIGALRM (timeouts of steps), the time
 * zone. 0 or -errno.
 */
int lua_job_prepare(void);

/*
 * In a sandboxed worker: await RUN and its body, run the
 * template, send RESULT or FAIL, and _exit. No stdio is flushed and no Lua
 * finalizer runs.
 */
_Noreturn void lua_job_serve(void);

#endif
