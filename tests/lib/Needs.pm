# SPDX-License-Identifier: Apache-2.0
# Needs.pm - what a test needs of the machine and not every machine has: root,
# Chromium, a compiler, a program. Only here is it looked for. A test that lacks
# something is skipped, and says what.
package Needs;

use strict;
use warnings;
use Cwd qw(abs_path);
use Exporter qw(import);
use File::Basename qw(dirname);
use POSIX ();
use Socket qw(AF_INET6 SOCK_STREAM pack_sockaddr_in6);
use Test::More;

our @EXPORT = qw(needs lacks skip_lacking as_root users $NOBODY $ORDINARY descriptors compile schema_suite system_calls);

my $TOP = abs_path(dirname(__FILE__) . '/../..');
my $CC = $ENV{CC} // 'cc';

sub as_root { return $> == 0 }

our $NOBODY = 65534;
our $ORDINARY = as_root() ? $NOBODY : undef; # a user with no right, when that is not us

# [who, uid] of each that a test can be; undef: who it is already.
sub users { return as_root() ? (['as root', undef], ['as nobody', $NOBODY]) : ['as a user', undef] }

sub runs { return system("$_[0] >/dev/null 2>&1") == 0 }
sub program { my ($name) = @_; return grep { -x "$_/$name" } split(/:/, $ENV{PATH} // ''), '/usr/bin' }

sub ipv6 {
	socket my $fh, AF_INET6, SOCK_STREAM, 0 or return;
	return bind $fh, pack_sockaddr_in6(0, Socket::IN6ADDR_LOOPBACK);
}

my %need = ( # what it is called => what is said without it, whether it is there
	root => ['only root can do that', \&as_root],
	mount => ['a file system of its own takes root', sub { as_root() && runs('unshare -m true') }],
	Chromium => ['no Chromium is installed (make deps-browser)',
		     sub { program('chromium-headless-shell') || program('chromium') }],
	compiler => ['there is no compiler', sub { runs("$CC --version") }],
	pip => ['python3 has no pip (apt install python3-pip)', sub { runs('/usr/bin/python3 -m pip --version') }],
	postgres => ['there is no PostgreSQL (Debian: postgresql-15)', sub { my @found = glob '/usr/lib/postgresql/*/bin/initdb'; scalar @found }],
	sqlite3 => ['python3 has no sqlite3', sub { runs(q(python3 -c 'import sqlite3')) }],
	IPv6 => ['no IPv6 loopback here', \&ipv6],
	'64 bits' => ['this test is of 64 bits', sub { length(pack 'P', '') == 8 }],
);

# The first of WHAT that there is not, as a sentence; undef: all are there. What
# has no entry above is a program.
sub lacks {
	for my $what (@_) {
		my ($why, $there) = @{$need{$what} // ["there is no $what here", sub { program($what) }]};

		return $why unless $there->();
	}
	return undef;
}

# At the head of a test: all of it needs WHAT.
sub needs {
	my $why = lacks(@_);

	plan skip_all => $why if defined $why;
}

# In a SKIP block: its N assertions need WHAT.
sub skip_lacking {
	my ($n, @what) = @_;
	my $why = lacks(@what);

	skip $why, $n if defined $why;
}

# Begin again with N open files, where fewer are allowed and more can be.
sub descriptors {
	my ($n) = @_;

	return if POSIX::sysconf(&POSIX::_SC_OPEN_MAX) >= $n || $ENV{PADDOCK_FDS};
	$ENV{PADDOCK_FDS} = 1;
	exec 'sh', '-c', "ulimit -n $n 2>/dev/null; exec \"\$@\"", 'sh', $^X, $0, @ARGV;
}

# Build SOURCE, of tests/, as TO; whether that could be done.
sub compile {
	my ($source, $to, @flags) = @_;

	return system($CC, '-D_GNU_SOURCE', '-O1', "-I$TOP", '-o', $to, "$TOP/tests/$source", @flags) == 0
	    && chmod 0755, $to;
}

# The harness of the official JSON Schema suite, built where it is not yet.
sub schema_suite {
	my $suite = ($ENV{PADDOCK_BUILD} // 'build') . '/tests/unit/proto/schema/suite';

	-x $suite or system('make', '-s', '-C', $TOP, $suite =~ s{^\Q$TOP\E/}{}r) == 0 or die "$suite cannot be built";
	return $suite;
}

# name => number of each system call, as the compiler's headers have them.
sub system_calls {
	return (`echo '#include <sys/syscall.h>' | $CC -E -dM -` // '') =~ /^#define __NR_(\w+) (\d+)$/mg;
}

1;
