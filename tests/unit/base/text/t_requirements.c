/* SPDX-License-Identifier: Apache-2.0 */
/* requirements.txt as a lock: the text that pip receives, and refused texts. */
#include "base/text/requirements.h"

#include <stdlib.h>
#include <string.h>

#include "base/mem.h"
#include "tests/unit/tap.h"

#define A                                                                      \
	"sha256:"                                                              \
	"8abb2f1d86890a2dfb989f9a77cfcfd3e47c2a354b01111771326f8aa26e0254"
#define B                                                                      \
	"sha256:"                                                              \
	"1e61c37477a1626458e36f7b1d82aa5c9b094fa4802892072e49de9c60c4c926"
#define H " --hash=" A

static const struct {
	const char *text, *clean;
} good[] = {
    {"", ""},
    {"\n# nothing\n\n   # else\n", ""},
    {"six==1.16.0" H "\n", "six==1.16.0" H "\n"},
    {"six==1.16.0" H, "six==1.16.0" H "\n"},
    {"six==1.16.0 \\\n    --hash=" A " \\\n    --hash=" B "\n    # via x\n",
     "six==1.16.0      --hash=" A "      --hash=" B "\n"},
    {"six == 1.16.0 --hash " A "\r\n", "six == 1.16.0 --hash " A "\n"},
    {"a-B_c.d[x,y] === 1.0+local ; python_version < '3.8' and x != 'y'" H,
     "a-B_c.d[x,y] === 1.0+local ; python_version < '3.8' and x != 'y'" H "\n"},
    {"six==1.16.0;os_name=='nt'" H, "six==1.16.0;os_name=='nt'" H "\n"},
    {"six==1\t--hash=" A " # \xc3\xa9\n", "six==1 --hash=" A "\n"},
    {"--index-url https://a/simple\n-i http://b\n--require-hashes\n",
     "--index-url https://a/simple\n-i http://b\n--require-hashes\n"},
    {"--extra-index-url=https://a#b\n", "--extra-index-url=https://a#b\n"},
};

static const struct {
	const char *text;
	size_t line;
	const char *errmsg; /* the beginning of the message */
} bad[] = {
    {"six", 1, "six has no exact version"},
    {"# x\n\nsix==1.16.0\n", 3, "six has no --hash="},
    {"six==1.16.0 \\\n\\\n", 1, "six has no --hash="},
    {"six>=1.16.0" H, 1, "six has no exact version"},
    {"six==1.*" H, 1, "six: its version is not exact"},
    {"six==1,>0" H, 1, "six: its version is not exact"},
    {"six[x==1" H, 1, "six: its extras have no end"},
    {"six==1 --hash=md5:00", 1, "six: a --hash is sha256:"},
    {"six==1 --hash=sha256:00", 1, "six: a --hash is sha256:"},
    {"six==1 --hash", 1, "six: a --hash is sha256:"},
    {"six==1" H "0", 1, "six: a --hash is sha256:"},
    {"six==1" H " --global-option=x", 1, "six: \"--global-option=x\" is no"},
    {"six==1 ; x -e ." H, 1, "six: \"-e\" is no --hash"},
    {"six==1 ; x\t-e\t." H, 1, "six: \"-e\" is no --hash"},
    {"six @ https://a/six.whl" H, 1, "six has no exact version"},
    {"https://a/six.whl" H, 1, "https has no exact version"},
    {"./six.whl" H, 1, "this is no name"},
    {"-e .", 1, "-e: a build takes"},
    {"-r other.txt", 1, "-r: a build takes"},
    {"-rother.txt", 1, "-rother.txt: a build takes"},
    {"--no-binary :all:", 1, "--no-binary: a build takes"},
    {"--no-binary=:all:", 1, "--no-binary: a build takes"},
    {"--find-links .", 1, "--find-links: a build takes"},
    {"--index-url", 1, "--index-url: a build takes"},
    {"--index-url a b", 1, "--index-url: a build takes"},
    {"--require-hashes=x", 1, "--require-hashes: a build takes"},
    {"--index-url a --no-binary :all:", 1, "--index-url: a build takes"},
    /* line ends of pip which other readers do not see */
    {"six==1" H " \xe2\x80\xa8--no-binary :all:", 1, "outside of comments"},
    {"six==1" H "\r--no-binary :all:", 1, "outside of comments"},
    {"six==1" H "\v--no-binary :all:", 1, "outside of comments"},
    {"six==1" H "\x1c--no-binary :all:", 1, "outside of comments"},
    {"--index-url a\\ # x\n--no-binary :all:", 1, "outside of comments"},
};

TEST(locks)
{
	for (size_t i = 0; i < ARRAY_LEN(good); i++) {
		struct buf out = {0};
		char errmsg[256] = "";
		size_t line = 0;
		int rc =
		    requirements_parse(good[i].text, strlen(good[i].text), &out,
				       &line, errmsg, sizeof(errmsg));
		char *clean = buf_take(&out, NULL);

		is_int(rc, 0, "\"%.40s\" is a valid lock", good[i].text);
		is_str(errmsg[0] != '\0' ? errmsg : clean, good[i].clean,
		       "pip gets the cleaned text of the lock");
		free(clean);
	}
}

TEST(no_locks)
{
	for (size_t i = 0; i < ARRAY_LEN(bad); i++) {
		struct buf out = {0};
		char errmsg[256] = "";
		size_t line = 0;
		int rc =
		    requirements_parse(bad[i].text, strlen(bad[i].text), &out,
				       &line, errmsg, sizeof(errmsg));

		ok(rc < 0 && line == bad[i].line &&
		       strncmp(errmsg, bad[i].errmsg, strlen(bad[i].errmsg)) ==
			   0,
		   "\"%.40s\" is none: %s", bad[i].text, errmsg);
		buf_fini(&out);
	}
}

TEST(bytes)
{
	struct buf out = {0};
	char errmsg[256];
	size_t line;

	ok(requirements_parse("a\0b", 3, &out, &line, errmsg, sizeof(errmsg)) <
	       0,
	   "a NUL is no text");
	buf_fini(&out);
}
