# SPDX-License-Identifier: Apache-2.0
# Held.pm - keeps a server's record from being written until the test lets go.
package Held;

use strict;
use warnings;
use Exporter qw(import);
use IPC::Open2 qw(open2);
use Paddock;

our @EXPORT = qw(sqlite_held record_held);

# Block writes to DB until the returned code is called.
sub sqlite_held {
	my $pid = open2(my $from, my $to, 'python3', '-c', <<'PY', @_);
import sqlite3, sys
db = sqlite3.connect(sys.argv[1], isolation_level=None, timeout=30)
db.execute("BEGIN IMMEDIATE")
print("held", flush=True)
sys.stdin.readline()
db.execute("ROLLBACK")
PY
	(<$from> // '') eq "held\n" or die "$_[0] cannot be locked\n";
	return sub { close $to; waitpid $pid, 0; close $from };
}

# The same for the record of server S, in either store.
sub record_held {
	my ($s) = @_;

	return on_postgres() ? postgres_held(postgres_url($s->{state})) : sqlite_held("$s->{state}/paddock.db");
}

1;
