/* SPDX-License-Identifier: Apache-2.0 */
/*
 * grants_secrets.c - whether the secrets that a template is granted are there, and for
 * the template and the requestor of a run. grants.c has the grants themselves. The
 * refusals name the section and the key of paddock.conf.
 */
#include <stddef.h>
#include <stdlib.h>

#include "base/mem.h"
#include "base/text/words.h"
#include "proto/json/json_pack.h"
#include "supervisor/packages/grants/grants.h"

/* Refuse the secret NAME by the sentence with LACK; the operator changes KEY. */
static bool refuse(struct tool_error *r, const struct template *t,
		   const char *name, const char *lack, const char *key)
{
	char *who = xasprintf("the operator, by %s%s[secret \"%s\"] of "
			      "paddock.conf",
			      key, *key != '\0' ? " in " : "", name);
	struct json_object *asked = json_object_new_array();

	json_object_array_add(asked, json_object_new_string(name));
	tool_error_set(
	    r, "PERMISSION_NOT_ALLOWED",
	    json_pack("asked:o key:s whoCanGrant:s", asked, "secrets", who),
	    "%s asks for the secret %s, which %s; %s can change that", t->id,
	    name, lack, who);
	free(who);
	return false;
}

bool grants_secrets_allow(const struct template *t, const struct config *c,
			  const char *requestor, struct tool_error *r)
{
	json_each(one, grants_secrets(t)) {
		const char *name = json_object_get_string(one);
		const struct config_secret *s = config_secret_find(c, name);

		if (s == NULL)
			return refuse(r, t, name, "paddock.conf does not have",
				      "");
		if (s->templates != NULL && !words_have(s->templates, t->id))
			return refuse(r, t, name, "is for other templates",
				      "templates");
		if (requestor != NULL && s->requestors != NULL &&
		    !words_have(s->requestors, requestor))
			return refuse(r, t, name,
				      "is for runs of other requestors",
				      "requestors");
	}
	return true;
}
