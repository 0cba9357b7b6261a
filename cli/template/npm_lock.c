/* SPDX-License-Identifier: Apache-2.0 */
/*
 * npm_lock.c - checks package-lock.json, for build_lock.c, before npm reads the
 * lock: npm would clone repositories (by git), link folders and take files
 * without a hash. Unknown members are left out for npm. The first fault is
 * reported.
 */
#include "cli/template/npm_lock.h"

#include <ctype.h>
#include <errno.h>
#include <stdbool.h>
#include <string.h>
#include <strings.h>

#include "base/mem.h"
#include "base/text/errmsg.h"
#include "proto/json/json_pack.h"

#define NAME_MAX_BYTES 214
#define WORD_MAX 512
#define FOLDER "node_modules/"

struct check {
	struct json_object *packages; /* of the lock */
	const char *at;		      /* path of the package being checked */
	char *errmsg;
	size_t size;
};

#define wrong(c, ...) errmsg_set((c)->errmsg, (c)->size, __VA_ARGS__)

/* ---- words ---- */

static bool begins_with(const char *text, size_t n, const char *more)
{
	for (size_t i = 0; i < n; i++)
		if (!isalnum((unsigned char)text[i]) &&
		    (text[i] == '\0' || strchr(more, text[i]) == NULL))
			return false;
	return true;
}

static size_t span_part(const char *p)
{
	size_t n = 0;

	while (begins_with(p + n, 1, "._-~"))
		n++;
	return *p == '.' || *p == '_' ? 0 : n; /* refuses "__proto__" */
}

/* Return the length of the package name at TEXT, scope included; or 0. */
static size_t span_name(const char *text)
{
	size_t n = 0, scope = 0;

	if (*text == '@') {
		scope = span_part(text + 1);
		if (scope == 0 || text[scope + 1] != '/')
			return 0;
		scope += 2;
	}
	n = span_part(text + scope);
	return n == 0 || scope + n > NAME_MAX_BYTES ? 0 : scope + n;
}

static bool is_package_name(const char *text)
{
	size_t n = span_name(text);

	return n > 0 && text[n] == '\0';
}

/* Is TEXT a whole version, as "1.2.3-rc.1+7", and no range or tag? */
static bool is_version(const char *text)
{
	for (int i = 0; i < 3; i++) {
		size_t n = strspn(text, "0123456789");

		if (n == 0 || n > 16 || (i < 2 && text[n] != '.'))
			return false;
		text += n + (i < 2);
	}
	return *text == '\0' ||
	       ((*text == '-' || *text == '+') && strlen(text) < 256 &&
		begins_with(text + 1, strlen(text + 1), ".-+") &&
		text[1] != '\0');
}

/* ---- places ---- */

/* npm takes any URL of these hosts for a repository. */
static const char *const forges[] = {"github.com", "gist.github.com",
				     "gitlab.com", "bitbucket.org",
				     "git.sr.ht"};

static bool is_forge(const char *host, size_t n)
{
	if (n > 4 && strncasecmp(host, "www.", 4) == 0) {
		host += 4;
		n -= 4;
	}
	while (n > 0 && host[n - 1] == '.')
		n--;
	for (size_t i = 0; i < ARRAY_LEN(forges); i++)
		if (strlen(forges[i]) == n &&
		    strncasecmp(forges[i], host, n) == 0)
			return true;
	return false;
}

/* Is URL a file by http(s), of a host that all parsers read alike? */
static bool is_file_url(const char *url)
{
	size_t n = strncmp(url, "https://", 8) == 0  ? 8
		   : strncmp(url, "http://", 7) == 0 ? 7
						     : 0;
	const char *host = url + n, *end = host + strcspn(host, "/");
	size_t len = strcspn(host, ":/");

	if (n == 0 || strlen(url) > 2048)
		return false;
	if (*host == '[') {
		len = strspn(host + 1, "0123456789abcdefABCDEF:.") + 1;
		if (host[len++] != ']')
			return false;
	} else if (len == 0 || !begins_with(host, len, "-.") ||
		   is_forge(host, len)) {
		return false;
	}
	if (host[len] == ':')
		len += 1 + strspn(host + len + 1, "0123456789");
	return host + len == end &&
	       begins_with(end, strlen(end), "/-._~!$&'()*+,;=:@%?");
}

/* ---- hashes ---- */

static const struct {
	const char *name;
	size_t digits;
} hashes[] = {{"sha512-", 88}, {"sha384-", 64}, {"sha256-", 44}};

static bool is_hash(const char *word, size_t n)
{
	for (size_t i = 0; i < ARRAY_LEN(hashes); i++) {
		size_t head = strlen(hashes[i].name), pads = 0;

		if (n != head + hashes[i].digits ||
		    strncmp(word, hashes[i].name, head) != 0)
			continue;
		while (pads < 2 && word[n - 1 - pads] == '=')
			pads++;
		return begins_with(word + head, n - head - pads, "+/");
	}
	return false;
}

/* Are all words known hashes? npm would not check by an unknown hash. */
static bool is_integrity(const char *text)
{
	bool any = false;

	for (;;) {
		size_t n;

		text += strspn(text, " ");
		n = strcspn(text, " ");
		if (n == 0)
			return any;
		if (!is_hash(text, n))
			return false;
		any = true;
		text += n;
	}
}

/* ---- dependencies ---- */

/* Is TEXT a range of versions or a tag, no path, URL or repository? */
static bool is_range(const char *text)
{
	return *text != '.' && begins_with(text, strlen(text), " .-+^~<>=|*");
}

static bool ends_with(const char *text, const char *end)
{
	size_t n = strlen(text), e = strlen(end);

	return n >= e && strcasecmp(text + n - e, end) == 0;
}

/* Does TEXT end as an archive does? npm would take it for a file. */
static bool is_archive(const char *text)
{
	return ends_with(text, ".tgz") || ends_with(text, ".tar") ||
	       ends_with(text, ".tar.gz");
}

static bool is_wanted_package(const char *text)
{
	size_t n;

	if (strlen(text) > WORD_MAX)
		return false;
	if (strncmp(text, "npm:", 4) == 0) { /* a package by another name */
		text += 4;
		n = span_name(text);
		if (n == 0)
			return false;
		text += n;
		if (*text != '\0' && *text++ != '@')
			return false;
	}
	return (is_range(text) && !is_archive(text)) || is_file_url(text);
}

static int wrong_want(const struct check *c, const char *name, const char *what)
{
	return wrong(c,
		     "%s needs %.100s as \"%.100s\"; a build takes packages by "
		     "their versions alone, such as ^1.2.3",
		     c->at, name, what);
}

static int take_wants(const struct check *c, const char *member,
		      struct json_object *from, struct json_object *to)
{
	struct json_object *all = json_member(from, member), *out;

	if (all == NULL)
		return 0;
	if (!json_object_is_type(all, json_type_object))
		return wrong(c, "%s: \"%s\" is no object", c->at, member);
	out = json_object_new_object();
	json_object_object_add(to, member, out);
	json_object_object_foreach(all, name, v) {
		const char *want = json_object_is_type(v, json_type_string)
				       ? json_object_get_string(v)
				       : "(no text)";

		if (!is_package_name(name))
			return wrong(c,
				     "%s needs \"%.100s\", which is no name of "
				     "a package",
				     c->at, name);
		if (!is_wanted_package(want))
			return wrong_want(c, name, want);
		json_object_object_add(out, name, json_object_new_string(want));
	}
	return 0;
}

static int take_all_wants(const struct check *c, struct json_object *from,
			  struct json_object *to)
{
	static const char *const kinds[] = {"dependencies", "devDependencies",
					    "optionalDependencies",
					    "peerDependencies"};
	struct json_object *all = json_member(from, "peerDependenciesMeta");
	struct json_object *out;

	for (size_t i = 0; i < ARRAY_LEN(kinds); i++)
		if (take_wants(c, kinds[i], from, to) < 0)
			return -EINVAL;
	if (!json_object_is_type(all, json_type_object))
		return 0;
	/* the names of peer dependencies that may be missing */
	out = json_object_new_object();
	json_object_object_foreach(all, name, v) {
		if (is_package_name(name) && json_member_bool(v, "optional"))
			json_object_object_add(out, name,
					       json_pack("optional:b", 1));
	}
	json_object_object_add(to, "peerDependenciesMeta", out);
	return 0;
}

/* Copy overrides; "$name" is the version that the root has of name. */
static int take_overrides(const struct check *c, const char *name,
			  struct json_object *v, struct json_object *to)
{
	struct json_object *out;
	const char *want;
	size_t n = strcmp(name, ".") == 0 ? 1 : span_name(name);

	if (n == 0 ||
	    (name[n] != '\0' && (name[n] != '@' || !is_range(name + n + 1))))
		return wrong(c, "%s overrides \"%.100s\", which is no package",
			     c->at, name);
	if (json_object_is_type(v, json_type_string)) {
		want = json_object_get_string(v);
		if (*want == '$' ? !is_package_name(want + 1)
				 : !is_wanted_package(want))
			return wrong_want(c, name, want);
		json_object_object_add(to, name, json_object_new_string(want));
		return 0;
	}
	if (!json_object_is_type(v, json_type_object))
		return wrong_want(c, name, "no text");
	out = json_object_new_object();
	json_object_object_add(to, name, out);
	json_object_object_foreach(v, below, one) {
		if (take_overrides(c, below, one, out) < 0)
			return -EINVAL;
	}
	return 0;
}

/* ---- a package ---- */

static bool is_plain_text(struct json_object *v)
{
	const char *s = json_object_get_string(v);
	size_t n = 0;

	if (!json_object_is_type(v, json_type_string))
		return false;
	while (s[n] >= ' ' && s[n] <= '~')
		n++;
	return n <= WORD_MAX && n == (size_t)json_object_get_string_len(v);
}

/* Copy short texts: machines and versions the package is for. */
static void take_texts(const char *member, struct json_object *from,
		       struct json_object *to)
{
	struct json_object *v = json_member(from, member), *out;

	if (is_plain_text(v)) {
		json_object_object_add(to, member, json_object_get(v));
	} else if (json_object_is_type(v, json_type_array)) {
		out = json_object_new_array();
		json_each(one, v) {
			if (is_plain_text(one))
				json_object_array_add(out,
						      json_object_get(one));
		}
		json_object_object_add(to, member, out);
	} else if (json_object_is_type(v, json_type_object)) {
		out = json_object_new_object();
		json_object_object_foreach(v, name, one) {
			if (is_package_name(name) && is_plain_text(one))
				json_object_object_add(out, name,
						       json_object_get(one));
		}
		json_object_object_add(to, member, out);
	}
}

/* Return where PATH's last package name begins; 0: no path of packages. */
static size_t last_package(const char *path)
{
	size_t at = 0, last, n;

	for (;; at++) {
		if (strncmp(path + at, FOLDER, strlen(FOLDER)) != 0)
			return 0;
		last = at + strlen(FOLDER);
		n = span_name(path + last);
		at = last + n;
		if (n == 0 || path[at] != '/')
			return n > 0 && path[at] == '\0' ? last : 0;
	}
}

/*
 * Check a package whose files come in another's: the package around bundles
 * packages, or is bundled.
 */
static int check_bundled(const struct check *c, struct json_object *p)
{
	size_t n = last_package(c->at) - strlen(FOLDER);
	char *path = n > 0 ? xasprintf("%.*s", (int)n - 1, c->at) : NULL;
	struct json_object *in =
	    path != NULL ? json_member(c->packages, path) : NULL;
	bool brought =
	    in != NULL && (json_member_bool(in, "inBundle") ||
			   json_member(in, "bundleDependencies") != NULL);

	free(path);
	return brought && json_member(p, "resolved") == NULL
		   ? 0
		   : wrong(c,
			   "%s is \"inBundle\", and what it lies in brings no "
			   "packages along",
			   c->at);
}

static int check_file(const struct check *c, struct json_object *p)
{
	const char *from = json_member_str(p, "resolved");
	const char *hash = json_member_str(p, "integrity");
	const char *version = json_member_str(p, "version");
	const char *name = json_member_str(p, "name");

	if (json_member(p, "link") != NULL)
		return wrong(c,
			     "%s is a link to a folder, and a package has no "
			     "links",
			     c->at);
	if (last_package(c->at) == 0)
		return wrong(c,
			     "%s is a folder of its own, which is not fetched",
			     c->at);
	if (name != NULL && !is_package_name(name))
		return wrong(c, "%s: \"name\" is no name of a package", c->at);
	if (from != NULL && !is_file_url(from))
		return wrong(c, "%s comes from %.200s, which is no registry",
			     c->at, from);
	if (!json_member_bool(p, "inBundle") && hash == NULL)
		return wrong(c,
			     "%s has no \"integrity\", so that nothing says "
			     "what its file has to be",
			     c->at);
	if (hash != NULL && !is_integrity(hash))
		return wrong(c,
			     "%s: \"integrity\" is no sha512-..., by which a "
			     "file is known",
			     c->at);
	if (version == NULL || !is_version(version))
		return wrong(c,
			     "%s: \"version\" is \"%.100s\", and not a version "
			     "such as 1.2.3",
			     c->at, version != NULL ? version : "");
	return hash == NULL ? check_bundled(c, p) : 0;
}

static int take_package(const struct check *c, struct json_object *p,
			struct json_object *all)
{
	static const char *const flags[] = {"dev", "optional", "devOptional",
					    "peer", "inBundle"};
	static const char *const texts[] = {"os", "cpu", "libc", "engines",
					    "bundleDependencies"};
	struct json_object *out = json_object_new_object();

	json_object_object_add(all, c->at, out);
	if (!json_object_is_type(p, json_type_object))
		return wrong(c, "%s is no object", c->at);
	if (check_file(c, p) < 0)
		return -EINVAL;
	json_add(out, "name?s version?s resolved?s integrity?s",
		 json_member_str(p, "name"), json_member_str(p, "version"),
		 json_member_str(p, "resolved"),
		 json_member_str(p, "integrity"));
	for (size_t i = 0; i < ARRAY_LEN(texts); i++)
		take_texts(texts[i], p, out);
	for (size_t i = 0; i < ARRAY_LEN(flags); i++)
		if (json_member_bool(p, flags[i]))
			json_object_object_add(out, flags[i],
					       json_object_new_boolean(1));
	return take_all_wants(c, p, out);
}

/* Copy the root package, as the lock or package.json has it. */
static int take_root(struct check *c, const char *at, struct json_object *p,
		     struct json_object *out)
{
	const char *name = json_member_str(p, "name"),
		   *version = json_member_str(p, "version");

	c->at = at;
	if (p != NULL && !json_object_is_type(p, json_type_object))
		return wrong(c, "%s is no object", at);
	if (json_member(p, "workspaces") != NULL)
		return wrong(c,
			     "%s has \"workspaces\", which are folders and not "
			     "fetched",
			     at);
	json_add(out, "name?s version?s",
		 name != NULL && is_package_name(name) ? name : NULL,
		 version != NULL && is_version(version) ? version : NULL);
	return take_all_wants(c, p, out);
}

/* ---- the two files ---- */

static int take_lock(struct check *c, struct json_object *lock)
{
	struct json_object *all = json_object_new_object(), *root;

	json_add(lock, "lockfileVersion:i requires:b packages:o", 3, 1, all);
	json_object_object_foreach(c->packages, path, p) {
		int rc;

		if (*path == '\0') {
			root = json_object_new_object();
			json_object_object_add(all, "", root);
			rc = take_root(c, "the lock's package itself", p, root);
		} else {
			c->at = path;
			rc = take_package(c, p, all);
		}
		if (rc < 0)
			return -EINVAL;
	}
	return 0;
}

static int take_about(struct check *c, const char *name,
		      struct json_object *about, struct json_object *to)
{
	struct json_object *changed = json_member(about, "overrides"), *out;

	if (take_root(c, name, about, to) < 0)
		return -EINVAL;
	if (changed == NULL)
		return 0;
	if (!json_object_is_type(changed, json_type_object))
		return wrong(c, "%s: \"overrides\" is no object", name);
	out = json_object_new_object();
	json_object_object_add(to, "overrides", out);
	json_object_object_foreach(changed, which, v) {
		if (take_overrides(c, which, v, out) < 0)
			return -EINVAL;
	}
	return 0;
}

int npm_lock_check(struct json_object *lock, struct json_object *about,
		   const char *about_name, struct json_object **lock_out,
		   struct json_object **about_out, char *errmsg, size_t size)
{
	struct check c = {.packages = json_member(lock, "packages"),
			  .errmsg = errmsg,
			  .size = size};

	*lock_out = json_object_new_object();
	*about_out = json_object_new_object();
	if (take_lock(&c, *lock_out) == 0 &&
	    take_about(&c, about_name, about, *about_out) == 0)
		return 0;
	json_object_put(*lock_out);
	json_object_put(*about_out);
	*lock_out = *about_out = NULL;
	return -EINVAL;
}
