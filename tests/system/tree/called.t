#!/usr/bin/perl
# SPDX-License-Identifier: Apache-2.0
# called.t - SECURITY.md's table of the code which paddock calls: each library whose header
# is included, and each file which executes or loads a program, is listed here, and has a
# row.
use strict;
use warnings;
use lib 'tests/lib';
use Test::More;

sub read_file { open my $f, '<', $_[0] or die "$_[0]: $!\n"; local $/; return scalar <$f> }
my ($section) = read_file('SECURITY.md') =~ /^## What paddock calls, and what calls it\n(.*?)^## /ms;
my %row = map { /^\| ([^|]+?) \|/ ? ($1 => 1) : () } split /\n/, $section // '';
sub has_row { my ($what) = @_; return scalar grep { /(?:^|, |`)\Q$what\E\b/ } keys %row }

# By the first part of a header's name; headers of the C library and of the kernel do not
# count.
my %library = ('json-c' => 'json-c', event2 => 'libevent', uthash => 'uthash', lauxlib => 'Lua', lua => 'Lua', lualib => 'Lua',
	sqlite3 => 'SQLite', nettle => 'nettle', seccomp => 'libseccomp', pcre2 => 'PCRE2', msgpack => 'msgpack-c',
	llhttp => 'llhttp', 'libpq-fe' => 'libpq', ini => 'inih', histedit => 'libedit', openssl => 'OpenSSL', ares => 'c-ares');
my @files = split /\n/, `find base ipc net proto sandbox worker supervisor browser egress cli -name '*.[ch]'`;
my %included;
my %executes;

for my $file (@files) {
	my $text = read_file($file);

	$included{$1} //= $file while $text =~ /^#include <([\w.-]+?)(?:\.h)?(?:\/[^>]*)?>/mg;
	$text =~ s{/\*.*?\*/|//[^\n]*|"(?:[^"\\\n]|\\.)*"}{}gs;
	$executes{$file} = 1 if $text =~ /\b(?:execv\w*|execl\w*|fexecve|posix_spawnp?|popen|system|dlopen)\s*\(|\bSYS_execve(?:at)?,/;
}
# The C library's and the kernel's, which everything is made of.
my %libc = map { $_ => 1 } qw(
	arpa asm assert ctype dirent dlfcn elf errno fcntl ftw getopt glob grp inttypes langinfo libgen
	limits link linux locale malloc math net netdb netinet poll pthread pwd sched signal spawn
	stdarg stdatomic stdbool stddef stdint stdio stdlib string strings sys sysexits termios time
	ucontext unistd wchar);

for my $name (sort grep { !$libc{$_} } keys %included) {
	ok($library{$name} && has_row($library{$name}), ($library{$name} // "<$name.h>") . " has a row, by $included{$name}");
}

# The files which execute or load a program; a new file gets a row and a line here.
my %whom = (
	'browser/process/chromium_launch.c' => 'Chromium',
	'cli/template/build_cage.c' => undef, # paddock-worker, by its descriptor
	'cli/template/template_findings.c' => 'paddock', # paddockd, beside it
	'cli/client/transport.c' => 'paddock',
	'cli/repl/libedit.c' => 'libedit',
	'supervisor/spawn/privsep.c' => undef, # our own, by paths that are fixed at the start
	'supervisor/spawn/spawn_exec.c' => undef,
	'supervisor/store/postgres/pq.c' => 'libpq',
	'worker/fetch/build_tools.c' => 'npm',
	'worker/program/shim_child.c' => 'interpreters of programs',
	'worker/selftest.c' => undef, # it tries, and may not
);
is_deeply([sort keys %executes], [sort keys %whom], 'what executes or loads something is known');
ok(has_row($_), "$_ has a row") for sort grep { defined } values %whom;
ok(has_row($_), "$_ has a row") for qw(pip Chromium SQLite PostgreSQL systemd ld.so git), 'completion scripts';
done_testing();
