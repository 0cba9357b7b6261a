/* SPDX-License-Identifier: Apache-2.0 */
/* Any bytes as a program: what is said of it is of it, and is a sentence. */
#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include "tests/fuzz/fuzz.h"
#include "base/text/utf8.h"
#include "supervisor/packages/grants/interpreter.h"

static char dir[] = "/tmp/paddock-fuzz_interpreter-XXXXXX";
static int package = -1;

static void remove_dir(void)
{
	unlinkat(package, "main", 0);
	rmdir(dir);
}

static void make_dir(void)
{
	if (package >= 0)
		return;
	if (mkdtemp(dir) == NULL)
		abort();
	package = open(dir, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	if (package < 0)
		abort();
	atexit(remove_dir);
}

static void put(const uint8_t *data, size_t size)
{
	int fd = openat(package, "main",
			O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0755);

	if (fd < 0 || write(fd, data, size) != (ssize_t)size)
		abort();
	close(fd);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	char entry[] = "main";
	const struct template t = {.entry = entry, .runtime = RUNTIME_PROGRAM};
	struct diagnostics f = {0};

	make_dir();
	put(data, size);
	interpreter_check(&t, package, &f);
	assert(f.n <= 2);
	for (size_t i = 0; i < f.n; i++) {
		const char *text = f.all[i].text;

		assert(strcmp(f.all[i].file, entry) == 0);
		assert(f.all[i].level == DIAGNOSTIC_ERROR);
		assert(strlen(text) > 10 && utf8_ok(text, strlen(text)));
		assert(strpbrk(text, "\n\r\x1b") == NULL);
	}
	diagnostics_fini(&f);
	return 0;
}
