/* SPDX-License-Identifier: Apache-2.0 */
/* Pictures of a run, read from a store that fails between two of these. */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "base/mem.h"
#include "supervisor/requestor/requestor.h"
#include "supervisor/session/result/run_pictures.h"
#include "supervisor/store/store.h"
#include "tests/unit/tap.h"

#define ONE "art_aaaaaaaaaaaaaaaaaaaaaaaaaa"
#define TWO "art_bbbbbbbbbbbbbbbbbbbbbbbbbb"
#define THREE "art_cccccccccccccccccccccccccc"
#define PICTURE(id, size)                                                      \
	"{\"artifactId\":\"" id "\",\"mimeType\":\"image/png\",\"size\":" size \
	"}"

static const char png[] = "\x89PNG\r\n\x1a\n";
static const char view[] = "{\"artifacts\":[" PICTURE(ONE, "8") "," PICTURE(
    TWO, "8") "," PICTURE(THREE, "8") "]}";

static struct {
	store_done done;
	void *arg;
	char id[64];
} asked;
static int over;

void __wrap_store_read_artifact(struct store *s, const char *requestor,
				const char *id, int64_t offset, int64_t limit,
				store_done done, void *arg);
void *__wrap_store_take_bytes(const struct store_result *res);

void __wrap_store_read_artifact(struct store *s, const char *requestor,
				const char *id, int64_t offset, int64_t limit,
				store_done done, void *arg)
{
	(void)s, (void)requestor, (void)offset, (void)limit;
	asked.done = done;
	asked.arg = arg;
	snprintf(asked.id, sizeof(asked.id), "%s", id);
}

void *__wrap_store_take_bytes(const struct store_result *res)
{
	char *copy = xcalloc(1, res->len);

	memcpy(copy, res->data, res->len);
	return copy;
}

static void on_done(void *arg)
{
	(void)arg;
	over++;
}

static void answer(int rc, const char *data, size_t len)
{
	asked.done(asked.arg,
		   &(struct store_result){
		       .rc = rc, .errmsg = "no", .data = data, .len = len});
}

static struct requestor ada = {.name = (char *)"ada"};

static bool has(const struct run_pictures *p, const char *id)
{
	const struct run_picture *one = run_pictures_find(p, id);

	return one != NULL && one->len == 8 && memcmp(one->data, png, 8) == 0;
}

TEST(fails_between)
{
	struct run_pictures p;

	is_int(run_pictures_choose(&p, &ada, view, strlen(view), 100, 1000), 24,
	       "three pictures are chosen");
	run_pictures_read(&p, NULL, on_done, NULL);
	is_str(asked.id, ONE, "the first picture is read");
	answer(0, png, 8);
	is_str(asked.id, TWO, "the second picture follows");
	answer(-EIO, NULL, 0);
	is_str(asked.id, THREE, "a failure of the store ends no other read");
	answer(0, png, 8);
	is_int(over, 1, "the end is told once");
	ok(has(&p, ONE) && has(&p, THREE), "pictures that were read are shown");
	ok(run_pictures_find(&p, TWO) == NULL,
	   "the picture that could not be read is left out");
	run_pictures_fini(&p);
	is_int(ada.memory.held, 0, "the memory is given back");
}

TEST(other_bytes)
{
	struct run_pictures p;

	over = 0;
	run_pictures_choose(&p, &ada, view, strlen(view), 100, 1000);
	run_pictures_read(&p, NULL, on_done, NULL);
	answer(0, png, 7);
	answer(0, "<html>..", 8);
	answer(-ENOENT, NULL, 0);
	is_int(over, 1, "the end is told when no picture was read");
	ok(run_pictures_find(&p, ONE) == NULL &&
	       run_pictures_find(&p, TWO) == NULL,
	   "fewer bytes than were announced, and bytes of no picture, are left "
	   "out");
	run_pictures_fini(&p);
}
