# SPDX-License-Identifier: Apache-2.0
# Needs.pm - requirements of tests which not every machine meets: root, Chromium, a
# compiler, a program. No other file looks for requirements. A test with a missing
# requirement is skipped with a message.
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

# [name, uid] of each user under which a test can run; undef: the current user.
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

# A sentence about the first missing requirement of WHAT; undef: none is missing. A name
# without an entry above is a program.
sub lacks {
	for my $what (@_) {
		my ($why, $there) = @{$need{$what} // ["there is no $what here", sub { program($what) }]};

		return $why unless $there->();
	}
	return undef;
}

# At the head of a test: the whole test needs WHAT.
sub needs {
	my $why = lacks(@_);

	plan skip_all => $why if defined $why;
}

# In a SKIP block: the N assertions of the block need WHAT.
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

# Compile SOURCE, below tests/, to TO; true on success.
sub compile {
	my ($source, $to, @flags) = @_;

	return system($CC, '-D_GNU_SOURCE', '-O1', "-I$TOP", '-o', $to, "$TOP/tests/$source", @flags) == 0
	    && chmod 0755, $to;
}

# The program for the official JSON Schema suite, built if necessary.
sub schema_suite {
	my $suite = ($ENV{PADDOCK_BUILD} // 'build') . '/tests/unit/proto/schema/suite';

	-x $suite or system('make', '-s', '-C', $TOP, $suite =~ s{^\Q$TOP\E/}{}r) == 0 or die "$suite cannot be built";
	return $suite;
}

# name => number of each system call, from the compiler's headers.
sub system_calls {
	return (`echo '#include <sys/syscall.h>' | $CC -E -dM -` // '') =~ /^#define __NR_(\w+) (\d+)$/mg;
}

1;
