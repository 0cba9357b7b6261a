/* SPDX-License-Identifier: Apache-2.0 */
/*
 * caps.c - capabilities of the zygote and of workers. sandbox.c and sandbox_program.c
 * call the functions while they build and enter the sandbox. An error is returned as
 * -errno, and stands in err[] for the layers that the zygote reports as missing.
 */
#include "sandbox/caps.h"

#include <errno.h>
#include <linux/securebits.h>
#include <sys/capability.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "base/mem.h"

#define LOCKED                                                                 \
	(SECBIT_NOROOT | SECBIT_NOROOT_LOCKED | SECBIT_NO_SETUID_FIXUP |       \
	 SECBIT_NO_SETUID_FIXUP_LOCKED | SECBIT_KEEP_CAPS_LOCKED |             \
	 SECBIT_NO_CAP_AMBIENT_RAISE | SECBIT_NO_CAP_AMBIENT_RAISE_LOCKED)

void caps_lock(struct sandbox *sb)
{
	int rc = 0;

	if (cap_reset_ambient() != 0)
		rc = -errno;
	for (cap_value_t c = 0; rc == 0 && cap_get_bound(c) >= 0; c++)
		if (cap_get_bound(c) == 1 && cap_drop_bound(c) != 0)
			rc = -errno;
	if (cap_set_secbits(LOCKED) != 0) {
		rc = rc != 0 ? rc : -errno;
		/* the fallback: capabilities are lost at a change of uid */
		prctl(PR_SET_KEEPCAPS, 1);
	}
	sb->err[SANDBOX_CAPS] = rc;
	sb->err[SANDBOX_NNP] =
	    prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) == 0 ? 0 : -errno;
}

/* Raise VALUE in the permitted and effective sets of WANT, if HELD permits VALUE. */
static int keep_one(cap_t want, cap_t held, cap_value_t value)
{
	cap_flag_value_t has = CAP_CLEAR;

	if (cap_get_flag(held, value, CAP_PERMITTED, &has) != 0)
		return -errno;
	if (has == CAP_CLEAR)
		return 0;
	if (cap_set_flag(want, CAP_PERMITTED, 1, &value, CAP_SET) != 0 ||
	    cap_set_flag(want, CAP_EFFECTIVE, 1, &value, CAP_SET) != 0)
		return -errno;
	return 0;
}

int caps_keep(unsigned more)
{
	static const struct {
		cap_value_t value;
		/*
		 * A plain capset(2), since libcap writes to a cap_t: each
		 * worker would copy a page.
		 */
		unsigned only;
	} values[] = {{CAP_SETUID, 0},
		      {CAP_SETGID, 0},
		      {CAP_KILL, CAPS_KILL},
		      {CAP_SYS_ADMIN, CAPS_MOUNT},
		      {CAP_NET_ADMIN, CAPS_NETWORK}};
	cap_t held = cap_get_proc();
	cap_t want = cap_init();
	int rc = held == NULL || want == NULL ? -ENOMEM : 0;

	for (size_t i = 0; rc == 0 && i < ARRAY_LEN(values); i++)
		if (values[i].only == 0 || (values[i].only & more) != 0)
			rc = keep_one(want, held, values[i].value);
	if (rc == 0 && cap_set_proc(want) != 0)
		rc = -errno;
	cap_free(want);
	cap_free(held);
	return rc;
}

/* Not libcap's: its cap_t is written, a page that each worker would copy. */
int caps_none(void)
{
	struct __user_cap_header_struct head = {
	    .version = _LINUX_CAPABILITY_VERSION_3};
	static const struct __user_cap_data_struct
	    none[_LINUX_CAPABILITY_U32S_3];

	return syscall(SYS_capset, &head, none) == 0 ? 0 : -errno;
}

bool caps_are_none(void)
{
	cap_t held = cap_get_proc(), none = cap_init();
	bool clear =
	    held != NULL && none != NULL && cap_compare(held, none) == 0;

	cap_free(none);
	cap_free(held);
	for (cap_value_t c = 0; clear && cap_get_bound(c) >= 0; c++)
		clear = cap_get_bound(c) == 0 && cap_get_ambient(c) == 0;
	return clear && cap_get_secbits() == LOCKED;
}
