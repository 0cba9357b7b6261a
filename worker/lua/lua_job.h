/* SPDX-License-Identifier: Apache-2.0 */
/*
 * lua_job.h - one run, from inside its cage.
 */
#ifndef WORKER_LUA_LUA_JOB_H
#define WORKER_LUA_LUA_JOB_H

/*
 * Once, in the zygote, before it is caged: everything that all workers
 * inherit. A Lua state with its libraries and the run API, the handlers of
 * SIGTERM (cancel), SIGSYS (report and die), SIGXCPU (CPU limit: report and
 * die) and SIGALRM (timeouts of steps), the time zone. 0 or -errno.
 */
int lua_job_prepare(void);

/*
 * In a caged worker: send READY, take RUN and its body from ZYGOTE_PROTO_RUN_FD, run
 * the template, send RESULT or FAIL, and _exit. No stdio is flushed and no
 * Lua finalizer runs on the way out.
 */
_Noreturn void lua_job_serve(void);

#endif
