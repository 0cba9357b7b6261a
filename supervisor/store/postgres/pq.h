/* SPDX-License-Identifier: Apache-2.0 */
/*
 * pq.h - libpq, loaded only when a database of PostgreSQL is configured: a server without
 * such a database neither needs the library nor pays for loading it.
 */
#ifndef SUPERVISOR_STORE_POSTGRES_PQ_H
#define SUPERVISOR_STORE_POSTGRES_PQ_H

#include <libpq-fe.h>

/* The names are fields of struct pq, and functions of libpq without the prefix PQ. */
#define PQ_FUNCTIONS(X)                                                        \
	X(backendPID)                                                          \
	X(clear)                                                               \
	X(cmdStatus)                                                           \
	X(cmdTuples)                                                           \
	X(connectPoll)                                                         \
	X(connectStartParams)                                                  \
	X(consumeInput)                                                        \
	X(enterPipelineMode)                                                   \
	X(errorMessage)                                                        \
	X(exitPipelineMode)                                                    \
	X(finish)                                                              \
	X(flush)                                                               \
	X(freemem)                                                             \
	X(getResult)                                                           \
	X(getisnull)                                                           \
	X(getlength)                                                           \
	X(getvalue)                                                            \
	X(isBusy)                                                              \
	X(nfields)                                                             \
	X(notifies)                                                            \
	X(ntuples)                                                             \
	X(parameterStatus)                                                     \
	X(pipelineSync)                                                        \
	X(resultErrorField)                                                    \
	X(resultStatus)                                                        \
	X(sendPrepare)                                                         \
	X(sendQuery)                                                           \
	X(sendQueryParams)                                                     \
	X(sendQueryPrepared)                                                   \
	X(serverVersion)                                                       \
	X(setNoticeProcessor)                                                  \
	X(setnonblocking)                                                      \
	X(socket)                                                              \
	X(status)

struct pq {
#define PQ_FIELD(name) __typeof__(PQ##name) *name;
	PQ_FUNCTIONS(PQ_FIELD)
#undef PQ_FIELD
};

/* The functions of libpq; NULL: the library is missing, or lacks a function. */
const struct pq *pq_load(void);

#endif
