/* SPDX-License-Identifier: Apache-2.0 */
/* package-lock.json as a lock: the text that npm receives, and refused texts. */
#include "cli/template/npm_lock.h"

#include <string.h>

#include "base/mem.h"
#include "proto/json/json_pack.h"
#include "tests/unit/tap_json.h"

#define A86                                                                    \
	"AAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAA"   \
	"AAAAAAAAAAAAAAAAAAAA"
#define H "sha512-" A86 "=="
#define URL "https://registry.npmjs.org/a/-/a-1.0.0.tgz"
/* a package at PLACE with MORE, which begins with a comma, or is empty */
#define AT(place, more)                                                        \
	"\"" place "\":{\"version\":\"1.0.0\",\"resolved\":\"" URL             \
	"\",\"integrity\":\"" H "\"" more "}"
#define A(more) AT("node_modules/a", more)
#define VERSION(v)                                                             \
	"\"node_modules/a\":{\"version\":\"" v "\",\"integrity\":\"" H "\"}"
#define FROM(url)                                                              \
	"\"node_modules/a\":{\"version\":\"1.0.0\",\"resolved\":\"" url        \
	"\",\"integrity\":\"" H "\"}"
#define HASH(h)                                                                \
	"\"node_modules/a\":{\"version\":\"1.0.0\",\"resolved\":\"" URL        \
	"\",\"integrity\":\"" h "\"}"
#define NEEDS(what) A(",\"dependencies\":{\"b\":\"" what "\"}")

/* Accepted packages of a lock, and the same packages in the text for npm. */
static const struct {
	const char *packages, *clean;
} good[] = {
    {"", ""},
    {"\"\":{\"name\":\"p\",\"version\":\"1.0.0\",\"license\":\"MIT\"}",
     "\"\":{\"name\":\"p\",\"version\":\"1.0.0\"}"},
    {A(""), A("")},
    {A(",\"license\":\"MIT\",\"hasInstallScript\":true,\"bin\":{\"a\":\"a\"}"),
     A("")},
    {A(",\"hasShrinkwrap\":true,\"scripts\":{\"install\":\"x\"}"), A("")},
    {A(",\"__proto__\":{\"link\":true,\"resolved\":\"git://a/b\"}"), A("")},
    {A(",\"dev\":true,\"optional\":true,\"peer\":false"),
     A(",\"dev\":true,\"optional\":true")},
    {A(",\"os\":[\"linux\",7],\"engines\":{\"node\":\">=18\",\".x\":\"1\"}"),
     A(",\"os\":[\"linux\"],\"engines\":{\"node\":\">=18\"}")},
    {AT("node_modules/@s/a/node_modules/b.c", ""),
     AT("node_modules/@s/a/node_modules/b.c", "")},
    {VERSION("1.0.0\\u0000x"), VERSION("1.0.0")},
    {VERSION("1.2.3-rc.1+b-7"), VERSION("1.2.3-rc.1+b-7")},
    {FROM("http://[::1]:80/a.tgz"), FROM("http://[::1]:80/a.tgz")},
    {FROM("https://codeload.github.com/u/a/tar.gz/1"),
     FROM("https://codeload.github.com/u/a/tar.gz/1")},
    {FROM("https://npm.pkg.github.com/download/@s/a/1.0.0/0f"),
     FROM("https://npm.pkg.github.com/download/@s/a/1.0.0/0f")},
    {HASH(H " " H), HASH(H " " H)},
    {NEEDS("^1.0.0 || >=2.0.0-rc <3"), NEEDS("^1.0.0 || >=2.0.0-rc <3")},
    {NEEDS(""), NEEDS("")},
    {NEEDS("latest"), NEEDS("latest")},
    {NEEDS("npm:@s/b@~1.2"), NEEDS("npm:@s/b@~1.2")},
    {NEEDS("https://cdn.example.com/b-1.tgz"),
     NEEDS("https://cdn.example.com/b-1.tgz")},
    {A(",\"bundleDependencies\":[\"b\"]") ","
					  "\"node_modules/a/node_modules/b\":{"
					  "\"version\":\"1.0.0\",\"inBundle\":"
					  "true}",
     A(",\"bundleDependencies\":[\"b\"]") ","
					  "\"node_modules/a/node_modules/b\":{"
					  "\"version\":\"1.0.0\",\"inBundle\":"
					  "true}"},
};

static const struct {
	const char *packages, *errmsg; /* a piece of the message */
} bad[] = {
    /* sources which npm would clone */
    {VERSION("git+http://a/b.git"), "\"version\" is \"git+http://a/b.git\""},
    {VERSION("github:u/r"), "\"version\" is"},
    {VERSION("1.0"), "\"version\" is"},
    {VERSION("1.0.0/.."), "\"version\" is"},
    {"\"node_modules/a\":{\"version\":\"git+http://a\",\"dev\":true}",
     "has no \"integrity\""},
    {"\"node_modules/a\":{\"version\":\"git+http://a\",\"inBundle\":true}",
     "\"version\" is"},
    {"\"node_modules/a\":{\"version\":\"1.0.0\",\"inBundle\":true}",
     "brings no packages along"},
    {A("") ",\"node_modules/a/node_modules/b\":{\"version\":\"1.0.0\","
	   "\"inBundle\":true}",
     "brings no packages along"},
    {"\"node_modules/a\":{\"version\":\"1.0.0\",\"optional\":true}",
     "has no \"integrity\""},
    {"\"node_modules/a\":{\"link\":true,\"resolved\":\"b\"}", "is a link"},
    {"\"node_modules/a\":{\"link\":false}", "is a link"},
    {AT("b", ""), "b is a folder of its own"},
    {AT("node_modules/../a", ""), "is a folder of its own"},
    {AT("node_modules/a/b", ""), "is a folder of its own"},
    {AT("node_modules/a/", ""), "is a folder of its own"},
    {AT("node_modules/.bin", ""), "is a folder of its own"},
    {AT("node_modules/__proto__", ""), "is a folder of its own"},
    {"\"node_modules/a\":7", "is no object"},
    {FROM("git+ssh://a"), "comes from git+ssh://a, which is no registry"},
    {FROM("git://a"), "which is no registry"},
    {FROM("file:a.tgz"), "which is no registry"},
    {FROM("../a.tgz"), "which is no registry"},
    {FROM("HTTPS://a/b"), "which is no registry"},
    {FROM("https://github.com/u/r.tgz"), "which is no registry"},
    {FROM("https://www.GitHub.com/u/r"), "which is no registry"},
    {FROM("https://gitlab.com./u/r"), "which is no registry"},
    {FROM("https://gist.github.com:443/u/r"), "which is no registry"},
    {FROM("https://u:p@a/b"), "which is no registry"},
    {FROM("https://a\\\\@github.com/u/r"), "which is no registry"},
    {FROM("https://%67ithub.com/u/r"), "which is no registry"},
    {FROM("https://a/b#0f"), "which is no registry"},
    {FROM("https://a/b c"), "which is no registry"},
    {FROM("https://"), "which is no registry"},
    /* hashes which npm would not compare */
    {HASH(""), "\"integrity\" is no sha512-"},
    {HASH("none"), "\"integrity\" is no sha512-"},
    {HASH("sha512-AAAA"), "\"integrity\" is no sha512-"},
    {HASH("md5-AAAAAAAAAAAAAAAAAAAAAA=="), "\"integrity\" is no sha512-"},
    {HASH("sha1-AAAAAAAAAAAAAAAAAAAAAAAAAAA="), "\"integrity\" is no sha512-"},
    {HASH(H "?x"), "\"integrity\" is no sha512-"},
    {HASH(H " sha1-AAAAAAAAAAAAAAAAAAAAAAAAAAA="), "\"integrity\" is no"},
    /* dependencies which no lock has */
    {NEEDS("git+http://a/b"), "needs b as \"git+http://a/b\""},
    {NEEDS("u/r"), "needs b as"},
    {NEEDS("github:u/r"), "needs b as"},
    {NEEDS("file:../b"), "needs b as"},
    {NEEDS("../b"), "needs b as"},
    {NEEDS(".."), "needs b as"},
    {NEEDS("~/b"), "needs b as"},
    {NEEDS("b.tgz"), "needs b as"},
    {NEEDS("https://github.com/u/r"), "needs b as"},
    {NEEDS("npm:b@git://a"), "needs b as"},
    {NEEDS("npm:b@npm:c"), "needs b as"},
    {NEEDS("git@a:b"), "needs b as"},
    {A(",\"peerDependencies\":{\"b\":7}"), "needs b as \"(no text)\""},
    {A(",\"optionalDependencies\":[]"), "is no object"},
    {A(",\"dependencies\":{\"../b\":\"1\"}"), "is no name of a package"},
    {"\"\":{\"dependencies\":{\"b\":\"file:b\"}}", "the lock's package itself"},
};

static const struct {
	const char *about, *clean, *errmsg;
} abouts[] = {
    {"{}", "{}", NULL},
    {"{\"name\":\"x\",\"version\":\"1.0.0\",\"scripts\":{\"preinstall\":\"x\"},"
     "\"dependencies\":{\"a\":\"^1\"},\"devDependencies\":{\"b\":\"2\"}}",
     "{\"name\":\"x\",\"version\":\"1.0.0\",\"dependencies\":{\"a\":\"^1\"},"
     "\"devDependencies\":{\"b\":\"2\"}}",
     NULL},
    {"{\"overrides\":{\"a@^1\":\"$b\",\"@s/c\":{\".\":\"1\",\"d\":\"2\"}}}",
     "{\"overrides\":{\"a@^1\":\"$b\",\"@s/c\":{\".\":\"1\",\"d\":\"2\"}}}",
     NULL},
    {"{\"peerDependenciesMeta\":{\"a\":{\"optional\":true},\"b\":{}}}",
     "{\"peerDependenciesMeta\":{\"a\":{\"optional\":true}}}", NULL},
    {"{\"dependencies\":{\"a\":\"git+http://a\"}}", NULL,
     "package.json needs a as"},
    {"{\"devDependencies\":{\"a\":\"u/r\"}}", NULL, "package.json needs a as"},
    {"{\"workspaces\":[\"a\"]}", NULL, "has \"workspaces\""},
    {"{\"overrides\":{\"a\":\"git://a\"}}", NULL, "needs a as"},
    {"{\"overrides\":{\"a\":{\"b\":\"u/r\"}}}", NULL, "needs b as"},
    {"{\"overrides\":{\"a@git://a\":\"1\"}}", NULL, "which is no package"},
    {"{\"overrides\":[]}", NULL, "\"overrides\" is no object"},
};

static struct json_object *lock_of(const char *packages, const char *more)
{
	char *text = xasprintf("{%s\"packages\":{%s}}", more, packages);
	struct json_object *o = json_unpack(text, strlen(text));

	free(text);
	return o;
}

/* Check PACKAGES and ABOUT: both texts for npm, or a message. */
static int check(const char *packages, const char *about,
		 struct json_object *out[2], char errmsg[512])
{
	struct json_object *lock = lock_of(packages, "\"dependencies\":{},");
	struct json_object *o = json_unpack(about, strlen(about));
	int rc = -1;

	*errmsg = '\0';
	out[0] = out[1] = NULL;
	if (lock == NULL || o == NULL)
		snprintf(errmsg, 512, "the test's JSON is none");
	else
		rc = npm_lock_check(lock, o, "package.json", &out[0], &out[1],
				    errmsg, 512);
	json_object_put(lock);
	json_object_put(o);
	return rc;
}

TEST(what_npm_gets)
{
	for (size_t i = 0; i < ARRAY_LEN(good); i++) {
		struct json_object *out[2], *want;
		char errmsg[512];
		int rc = check(good[i].packages, "{}", out, errmsg);

		want = lock_of(good[i].clean,
			       "\"lockfileVersion\":3,\"requires\":true,");
		ok(rc == 0 && json_object_equal(out[0], want), "%.100s: %s%s",
		   good[i].packages, errmsg,
		   rc == 0 ? json_object_to_json_string(out[0]) : "");
		json_object_put(want);
		json_object_put(out[0]);
		json_object_put(out[1]);
	}
}

TEST(no_locks)
{
	for (size_t i = 0; i < ARRAY_LEN(bad); i++) {
		struct json_object *out[2];
		char errmsg[512];
		int rc = check(bad[i].packages, "{}", out, errmsg);

		ok(rc < 0 && out[0] == NULL && out[1] == NULL &&
		       strstr(errmsg, bad[i].errmsg) != NULL,
		   "%.400s is none: %s", bad[i].packages, errmsg);
		json_object_put(out[0]);
		json_object_put(out[1]);
	}
}

TEST(the_package_itself)
{
	for (size_t i = 0; i < ARRAY_LEN(abouts); i++) {
		struct json_object *out[2], *want = NULL;
		char errmsg[512];
		int rc = check("", abouts[i].about, out, errmsg);

		if (abouts[i].clean != NULL)
			want = json_unpack(abouts[i].clean,
					   strlen(abouts[i].clean));
		ok(want != NULL ? rc == 0 && json_object_equal(out[1], want)
				: rc < 0 && strstr(errmsg, abouts[i].errmsg),
		   "%.100s: %s", abouts[i].about, errmsg);
		json_object_put(want);
		json_object_put(out[0]);
		json_object_put(out[1]);
	}
}
