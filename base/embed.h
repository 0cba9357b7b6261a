/* SPDX-License-Identifier: Apache-2.0 */
/*
 * embed.h - a file of the source tree as bytes of the binary.
 *
 * EMBED(name, "path/from/the/top") defines name[] and name_end[], at file
 * scope. The Makefile names the file as a prerequisite of the object.
 */
#ifndef BASE_EMBED_H
#define BASE_EMBED_H

#define EMBED(name, path)                                                      \
	__asm__(".pushsection .rodata\n" #name ":\n"                           \
		".incbin \"" path "\"\n" #name "_end:\n"                       \
		".byte 0\n"                                                    \
		".popsection\n");                                              \
	extern const char name[] __attribute__((visibility("hidden")));        \
	extern const char name##_end[] __attribute__((visibility("hidden")))

#endif
