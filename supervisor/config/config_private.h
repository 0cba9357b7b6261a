/* SPDX-License-Identifier: Apache-2.0 */
/* config_private.h - between config.c and config_file.c alone. */
#ifndef SUPERVISOR_CONFIG_CONFIG_PRIVATE_H
#define SUPERVISOR_CONFIG_CONFIG_PRIVATE_H

#include "supervisor/config/config.h"

#define CONFIG_REQUESTORS_MAX 1000
#define CONFIG_GRANTS_MAX 1000

/* The index of requestor NAME (N bytes), made with defaults if it is new. */
size_t config_requestor_index(struct config *c, const char *name, size_t n);

/* The same of grant NAME. */
size_t config_grant_index(struct config *c, const char *name, size_t n);
/* Are N bytes at S a templateId? */
bool config_is_id(const char *s, size_t n);

/* One folder of templates more: PATH, N bytes. */
void config_add_templates(struct config *c, const char *path, size_t n);

/* What no single key can tell. 0, or -EINVAL with ERRMSG, which names FILE. */
int config_check(const struct config *c, const char *file, char *errmsg,
		 size_t size);

#endif
