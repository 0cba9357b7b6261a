/* SPDX-License-Identifier: Apache-2.0 */
/*
 * rogue.c - a paddock-worker whose workers obey a script, which is the code of the
 * template:
 *
 *   send HEX          a frame
 *   many N HEX        the frame, N times
 *   drip N HEX        the frame, every N ms for ever
 *   big N             a frame of N bytes
 *   repeat N BYTE HEX a frame: HEX, then N times BYTE
 *   rights N          try to pass descriptors, N times
 *   forge             try to pass the credentials of another process
 *   told              a result: the errno of the last such attempt
 *   shut rd | wr      shut the socket down
 *   hangup            close the socket
 *   tick              go on for ever, and send progress
 *   fuzz              random messages, by the number "seed" in the inputs
 *   exit N, segv, stay
 */
#include <errno.h>
#include <poll.h>
#include <stdint.h>
#include <stdio.h>

#include "tests/lib/rogue.h"

#define FRAME_MAX 65536
#define SCRIPT "--rogue\n"
#define READY "\x91\x10"

static char order[FRAME_MAX + 1]; /* RUN: the script, perhaps the inputs */
static int last_errno;

static void say(const void *bytes, size_t len)
{
	(void)!send(ZYGOTE_PROTO_RUN_FD, bytes, len, MSG_NOSIGNAL);
}

static size_t from_hex(unsigned char *to, const char *hex)
{
	size_t n = 0;
	unsigned int byte;

	while (sscanf(hex + 2 * n, "%2x", &byte) == 1)
		to[n++] = (unsigned char)byte;
	return n;
}

/* ---- descriptors and credentials ---- */

static void pass(int type, const void *what, size_t len)
{
	union {
		struct cmsghdr align;
		char space[CMSG_SPACE(64)];
	} u = {0};
	struct iovec iov = {.iov_base = (void *)READY, .iov_len = 2};
	struct msghdr msg = {.msg_iov = &iov,
			     .msg_iovlen = 1,
			     .msg_control = u.space,
			     .msg_controllen = CMSG_SPACE(len)};
	struct cmsghdr *c = CMSG_FIRSTHDR(&msg);

	c->cmsg_level = SOL_SOCKET;
	c->cmsg_type = type;
	c->cmsg_len = CMSG_LEN(len);
	memcpy(CMSG_DATA(c), what, len);
	last_errno =
	    sendmsg(ZYGOTE_PROTO_RUN_FD, &msg, MSG_NOSIGNAL) < 0 ? errno : 0;
}

static void tell(void)
{
	char frame[24];
	int n = snprintf(frame + 8, sizeof(frame) - 8, "%d", last_errno);

	memcpy(frame, "\x97\x15\x00\x00\x00\x00", 6);
	frame[6] = (char)n;
	frame[7] = (char)(0xa0 + n);
	say(frame, (size_t)n + 8);
}

/* ---- random messages ---- */

static uint64_t state;

static uint32_t random_to(uint32_t n)
{
	state ^= state << 13;
	state ^= state >> 7;
	state ^= state << 17;
	return (uint32_t)(state >> 32) % n;
}

static size_t put_uint(unsigned char *to)
{
	static const unsigned char small[] = {0, 1, 2, 3, 4, 0x7f};
	size_t n = 1u << random_to(4);

	if (random_to(2) == 0) {
		to[0] = small[random_to(sizeof(small))];
		return 1;
	}
	to[0] = (unsigned char)(0xcc + (n == 1	 ? 0
					: n == 2 ? 1
					: n == 4 ? 2
						 : 3));
	for (size_t i = 1; i <= n; i++)
		to[i] = random_to(3) == 0 ? 0xff : (unsigned char)random_to(4);
	return n + 1;
}

static size_t put_str(unsigned char *to)
{
	static const char *const words[] = {
	    "", "x", "{}", "null", "[]", "EXECUTION_ERROR", "RUN_CANCELED",
	    "\xff",
	    /* a question's shape */
	    "{\"message\":\"m\",\"requestedSchema\":{\"type\":\"object\",\"properties\":{}}}",
	    "\x1b[2J", "{\"a\":", "main.lua", "text/plain", "\n"};
	const char *w = words[random_to(sizeof(words) / sizeof(words[0]))];
	size_t n = strlen(w);

	to[0] = 0xd9;
	to[1] = (unsigned char)(random_to(40) == 0 ? 0xff : n);
	memcpy(to + 2, w, n);
	return n + 2;
}

/* The fields of each type: i and s; FAIL and all later types. */
static const char *const shapes[] = {
    [2] = "s",	   [16] = "",	  [17] = "iis", [18] = "iiiiisss",
    [19] = "is",   [20] = "isss", [21] = "iis", [22] = "sss",
    [23] = "isis", [24] = "iiis", [25] = "i",
};

static void say_any(void)
{
	unsigned char f[4096];
	unsigned int type =
	    random_to(20) == 0 ? random_to(128) : 16 + random_to(10);
	const char *shape;
	size_t n = 2;

	if (random_to(6) == 0)
		type = 2;
	shape = type < sizeof(shapes) / sizeof(shapes[0]) ? shapes[type] : NULL;
	if (shape == NULL)
		shape = "si";
	f[0] = (unsigned char)(0x91 + strlen(shape));
	f[1] = (unsigned char)type;
	for (; *shape != '\0'; shape++)
		n += (*shape == 'i') != (random_to(50) == 0) ? put_uint(f + n)
							     : put_str(f + n);
	for (uint32_t i = random_to(12) == 0 ? 1 + random_to(4) : 0; i > 0; i--)
		f[random_to((uint32_t)n)] = (unsigned char)random_to(256);
	if (random_to(60) == 0)
		n = random_to((uint32_t)n + 1);
	say(f, n);
}

#define LEGAL(text)                                                            \
	{                                                                      \
		text, sizeof(text) - 1                                         \
	}

/* Legal messages of a worker, most in any order after READY. */
static const struct {
	const char *bytes;
	size_t n;
} legal[] = {
    LEGAL("\x94\x11\x01\x05\xa1p"),
    LEGAL("\x94\x11\x04\x05\xa0"),
    LEGAL("\x94\x11\x09\x05\xa3\x1b[H"),
    LEGAL("\x93\x13\x06\xa3log"),
    LEGAL("\x93\x13\x00\xa5\nlog\n"),
    LEGAL("\x99\x12\x00\x00\x01\x01\x00\xa0\xa0\xa0"),
    LEGAL("\x95\x14\x03\xa1n\xaatext/plain\xa3"
	  "abc"),
    LEGAL("\x95\x14\x04\xa1n\xaatext/plain\xa3"
	  "abc"), /* a CHUNK is owed */
    LEGAL("\x92\x02\xa1"
	  "d"),
    LEGAL("\x95\x17S\xa1t\x02\xa2{}"), /* S: a seq */
    LEGAL("\x95\x18S\x00\xcc\x43\xd9\x43{\"message\":\"m\",\"requestedSchema\":"
	  "{\"type\":\"object\",\"properties\":{}}}"),
    LEGAL("\x95\x18S\x01\x02\xa2{}"),
    LEGAL("\x92\x19\x01"),
    LEGAL("\x92\x19\x02"),
};

static void say_legal(bool changed)
{
	static char seq;
	char f[256];
	size_t i = random_to(sizeof(legal) / sizeof(legal[0]));
	char *at;

	memcpy(f, legal[i].bytes, legal[i].n);
	at = memchr(f, 'S', 4);
	if (at != NULL)
		*at = ++seq;
	if (changed)
		f[random_to((uint32_t)legal[i].n)] = (char)random_to(256);
	say(f, legal[i].n);
}

/* A third of the workers sends random bytes from the beginning. */
static void fuzz(uint64_t seed)
{
	static const char step[] = "\x99\x12\x00\x03\x00\x00\x00\xa1s\xa0\xa0";
	static const char result[] = "\x97\x15\x00\x00\x00\x00\x04\xa4null";
	unsigned char in[FRAME_MAX];
	bool wild;

	state = seed * 0x9e3779b97f4a7c15u + 1;
	wild = random_to(3) == 0;
	if (!wild || random_to(4) != 0)
		say(READY, 2);
	if (random_to(2) == 0)
		say(step, sizeof(step) - 1);
	for (uint32_t i = random_to(10); i > 0; i--) {
		if (wild)
			say_any();
		else
			say_legal(random_to(12) == 0);
		if (random_to(4) == 0)
			recv(ZYGOTE_PROTO_RUN_FD, in, sizeof(in), MSG_DONTWAIT);
	}
	if (random_to(2) == 0)
		say(result, sizeof(result) - 1);
	switch (random_to(6)) {
	case 0:
		raise(SIGSEGV);
		break;
	case 1:
		shutdown(ZYGOTE_PROTO_RUN_FD, (int)random_to(3));
		pause();
		break;
	case 2:
		pause();
		break;
	case 3:
		close(ZYGOTE_PROTO_RUN_FD);
		pause();
		break;
	default:
		_exit((int)random_to(200));
	}
}

/* The inputs follow the code, in the same frame or in a frame of their own. */
static uint64_t seed_of_inputs(void)
{
	static const char key[] = "\"seed\":";
	char *at = memmem(order, sizeof(order), key, strlen(key));

	while (at == NULL && recv(ZYGOTE_PROTO_RUN_FD, order, FRAME_MAX, 0) > 0)
		at = memmem(order, sizeof(order), key, strlen(key));
	return at == NULL ? 0 : strtoull(at + strlen(key), NULL, 10);
}

/* ---- the script ---- */

static void nap(int ms)
{
	poll(NULL, 0, ms);
}

static void for_ever(const char *line)
{
	unsigned char f[FRAME_MAX];
	int ms = 0, at = 0;
	size_t n;

	sscanf(line, "drip %d %n", &ms, &at);
	n = from_hex(f, line + at);
	for (;;) {
		say(f, n);
		nap(ms);
	}
}

static void tick(void)
{
	unsigned char f[] = "\x94\x11\xce....\x00\xa4tick";

	say(READY, 2);
	for (uint32_t n = 1;; n++) {
		for (int i = 0; i < 4; i++)
			f[3 + i] = (unsigned char)(n >> (24 - 8 * i));
		say(f, sizeof(f) - 1);
		nap(5);
	}
}

static void say_repeated(const char *line)
{
	static unsigned char f[1 << 20];
	unsigned int byte = 0;
	int n = 0, at = 0;
	size_t len;

	sscanf(line, "repeat %d %x %n", &n, &byte, &at);
	len = from_hex(f, line + at);
	memset(f + len, (int)byte, (size_t)n);
	say(f, len + (size_t)n);
}

static void say_many(const char *line)
{
	unsigned char f[FRAME_MAX];
	int n = 0, at = 0;
	size_t len;

	sscanf(line, "many %d %n", &n, &at);
	len = from_hex(f, line + at);
	while (n-- > 0)
		say(f, len);
}

/* Obey one line of the script; false: the script has ended. */
static bool obey(const char *line)
{
	const struct {
		int pid, uid, gid;
	} other = {1, 0, 0};
	static unsigned char f[1 << 20];
	const int null = 0;
	int n;

	if (strncmp(line, "send ", 5) == 0) {
		say(f, from_hex(f, line + 5));
	} else if (strncmp(line, "many ", 5) == 0) {
		say_many(line);
	} else if (strncmp(line, "drip ", 5) == 0) {
		for_ever(line);
	} else if (strncmp(line, "repeat ", 7) == 0) {
		say_repeated(line);
	} else if (sscanf(line, "big %d", &n) == 1) {
		say(f, (size_t)n);
	} else if (sscanf(line, "rights %d", &n) == 1) {
		while (n-- > 0)
			pass(SCM_RIGHTS, &null, sizeof(null));
	} else if (strcmp(line, "forge") == 0) {
		pass(SCM_CREDENTIALS, &other, sizeof(other));
	} else if (strcmp(line, "told") == 0) {
		tell();
	} else if (strcmp(line, "shut rd") == 0) {
		shutdown(ZYGOTE_PROTO_RUN_FD, SHUT_RD);
	} else if (strcmp(line, "shut wr") == 0) {
		shutdown(ZYGOTE_PROTO_RUN_FD, SHUT_WR);
	} else if (strcmp(line, "hangup") == 0) {
		close(ZYGOTE_PROTO_RUN_FD);
	} else if (strcmp(line, "tick") == 0) {
		tick();
	} else if (strcmp(line, "fuzz") == 0) {
		fuzz(seed_of_inputs());
	} else if (sscanf(line, "exit %d", &n) == 1) {
		_exit(n);
	} else if (strcmp(line, "segv") == 0) {
		raise(SIGSEGV);
	} else if (strcmp(line, "stay") == 0) {
		for (;;)
			pause();
	} else {
		return false; /* the script ends where the inputs begin */
	}
	return true;
}

static void misbehave(void)
{
	ssize_t n = recv(ZYGOTE_PROTO_RUN_FD, order, FRAME_MAX, 0);
	char *at =
	    n > 0 ? memmem(order, (size_t)n, SCRIPT, strlen(SCRIPT)) : NULL;
	char *line = at == NULL ? NULL : strtok(at + strlen(SCRIPT), "\n");

	while (line != NULL && obey(line))
		line = strtok(NULL, "\n");
}

int main(void)
{
	return rogue_serve(misbehave);
}
