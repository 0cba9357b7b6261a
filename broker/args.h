/* args.h - a call's arguments against its action's table. */
#ifndef BROKER_ARGS_H
#define BROKER_ARGS_H

#include "broker/broker.h"

/* All of C->args. 0, or -1 and the fault INVALID_PARAMETER. */
int args_check(struct call *c);

#endif
