/* SPDX-License-Identifier: Apache-2.0 */
/*
 * first_call.c - a program whose first instruction is a system call that is
 * forbidden: there is no loader, and nothing of libc. Build it with -nostdlib
 * -static.
 */
#include <sys/syscall.h>

void _start(void); /* called by the kernel, in no header */

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
