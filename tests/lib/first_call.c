/* SPDX-License-Identifier: Apache-2.0 */
/*
 * first_call.c - a program with a forbidden system call as the first instruction,
 * without a loader and without libc. The flags of the build are -nostdlib -static.
 */
#include <sys/syscall.h>

/* The kernel calls _start(). */
void _start(void);

void _start(void)
{
#ifdef __aarch64__
	register long number __asm__("x8") = SYS_open_by_handle_at;

	__asm__ volatile("svc 0" : : "r"(number));
#else
	__asm__ volatile("syscall"
			 :
			 : "a"(SYS_open_by_handle_at)
			 : "rcx", "r11", "memory");
#endif
	__builtin_trap();
}
