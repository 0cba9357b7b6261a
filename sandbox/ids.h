/* ids.h - who the zygote and its workers are. */
#ifndef SANDBOX_IDS_H
#define SANDBOX_IDS_H

#include "sandbox/sandbox.h"

/* Where the host keeps room for slots + 1 ids; the first that works is used. */
extern const unsigned int ids_bases[];
#define IDS_BASES 2u
/* In a user namespace of ours, where there is no root. */
#define IDS_FIRST_INSIDE 1u

/* In a mapped user namespace: become the id after the last slot's. 0, -errno */
int ids_zygote_mapped(const struct sandbox *sb);

/*
 * Without a user namespace of ours: take an unused range of the host's ids.
 * Fills own_ids, first_id, uid_base. 0, or -errno with the uid unchanged.
 */
int ids_zygote_direct(struct sandbox *sb);

/* Become SLOT, where slots have ids. 0 or -errno. */
int ids_worker(const struct sandbox *sb, unsigned int slot);

#endif
