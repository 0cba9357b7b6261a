/* SPDX-License-Identifier: Apache-2.0 */
/* lua_job.h - a run of a Lua template. */
#ifndef WORKER_LUA_LUA_JOB_H
#define WORKER_LUA_LUA_JOB_H

/*
 * Once, in the zygote, before the sandbox: prepare the common part of all workers. The
 * common part is a Lua state with libraries and the run API, the handlers of SIGTERM
 * (cancel), SIGSYS and SIGXCPU (report and die) and SIGALRM (timeouts of steps), and the
 * time zone. 0 or -errno.
 */
int lua_job_prepare(void);

/*
 * In a sandboxed worker: await RUN with the body, run the template, send RESULT or FAIL,
 * and _exit; a resident's worker awaits the next RUN, and keeps the Lua state. No stdio is flushed and no Lua finalizer runs.
 */
_Noreturn void lua_job_serve(void);

#endif
