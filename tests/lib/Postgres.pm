# SPDX-License-Identifier: Apache-2.0
# Postgres.pm - the database which tests/tools/with-postgres has started, for the servers of
# tests. Each state folder has a schema of its own.
package Postgres;
use strict;
use warnings;
use Exporter 'import';
use Digest::SHA qw(sha256_hex);
use IO::Handle;
use IPC::Open2 qw(open2);
our @EXPORT = qw(on_postgres postgres_url postgres_sql postgres_held);

# Do the servers of tests keep the record in PostgreSQL?
sub on_postgres { return ( $ENV{PADDOCK_TEST_STORE} // '' ) eq 'postgres' }

sub base {
	return $ENV{PADDOCK_TEST_POSTGRES} // die "tests/tools/with-postgres is not beside\n";
}

sub psql {
	my ($url) = @_;
	my ($psql) = grep { -x } reverse( sort glob '/usr/lib/postgresql/*/bin/psql' ), '/usr/bin/psql';

	return ( $psql, '-XAtq', '-v', 'ON_ERROR_STOP=1', $url // base() );
}

# The output of psql for SQL, one line for each row.
sub postgres_sql {
	my ( $sql, $url ) = @_;

	open my $out, '-|', psql($url), '-c', $sql or die "psql: $!\n";
	chomp( my @rows = <$out> );
	close $out or die "psql: $sql\n";
	return @rows;
}

# Lock the table runs of URL against writes until the returned code is called; or run the
# SQL text LOCK and hold the locks until then.
sub postgres_held {
	my ( $url, $lock ) = @_;
	my $pid = open2( my $from, my $to, psql($url) );

	$lock //= 'LOCK TABLE runs IN EXCLUSIVE MODE';
	print {$to} "BEGIN; $lock; SELECT 'held';\n";
	$to->flush;
	my $line;
	do { $line = <$from> // '' } while $line eq "\n";
	$line eq "held\n" or die "psql: the runs cannot be locked\n";
	return sub { close $to; waitpid $pid, 0; close $from };
}

# The URL of a database schema for the state folder STATE. lease_ms: the lease of a server
# with this URL; poll_ms: the interval between polls for changes by other servers; name: the
# application name of the connections.
sub postgres_url {
	my ( $state, %o ) = @_;
	my $schema = 'p' . substr sha256_hex($state), 0, 16;
	my $name   = $o{name} // $schema;
	my $set    = join '', map { $o{$_} ? "%20-cpaddock.$_%3D$o{$_}" : () } qw(lease_ms poll_ms);

	postgres_sql("SET client_min_messages = error; CREATE SCHEMA IF NOT EXISTS $schema");
	return base() . "&options=-csearch_path%3D$schema$set&application_name=$name";
}

1;
