# SPDX-License-Identifier: Apache-2.0
# Postgres.pm - the database that tests/tools/with-postgres has started, for servers
# that tests start. Each state folder has a schema of its own.
package Postgres;
use strict;
use warnings;
use Exporter 'import';
use Digest::SHA qw(sha256_hex);
our @EXPORT = qw(postgres_url postgres_sql);

sub base {
	return $ENV{PADDOCK_TEST_POSTGRES} // die "tests/tools/with-postgres is not beside\n";
}

# What psql prints of SQL, a line a row.
sub postgres_sql {
	my ( $sql, $url ) = @_;
	my ($psql) = grep { -x } reverse( sort glob '/usr/lib/postgresql/*/bin/psql' ), '/usr/bin/psql';

	open my $out, '-|', $psql, '-XAtq', '-v', 'ON_ERROR_STOP=1', $url // base(), '-c', $sql or die "psql: $!\n";
	chomp( my @rows = <$out> );
	close $out or die "psql: $sql\n";
	return @rows;
}

sub postgres_url {
	my ($state) = @_;
	my $schema = 'p' . substr sha256_hex($state), 0, 16;

	postgres_sql("SET client_min_messages = error; CREATE SCHEMA IF NOT EXISTS $schema");
	return base() . "&options=-csearch_path%3D$schema&application_name=$schema";
}

1;
