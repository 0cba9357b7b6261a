#!/usr/bin/perl
# SPDX-License-Identifier: Apache-2.0
# A pooler before the database: a pooler which gives each transaction another session is
# reported at the start, in plain words; with a pooler which keeps a session for a client,
# everything works.
use lib 'tests/lib';
use Paddock;
use Daemon;

BEGIN {
	needs('postgres');
	exec 'tests/tools/with-postgres', $^X, $0 unless $ENV{PADDOCK_TEST_POSTGRES};
}
use Pooler;
use Postgres;

my ( $owner, $pooler ) = ($$);

sub begin {
	my ($shares) = @_;
	my $root = Paddock::fresh_root();
	my $url  = postgres_url("pooled$shares");
	my ($host) = $url =~ /host=([^&]+)/;

	$pooler = Pooler::start( $root, "$host/.s.PGSQL.5432", $shares );
	$Paddock::beside{$pooler} = 1;
	return ( $root, $url =~ s/host=[^&]+/host=$root/r );
}

sub end {
	kill KILL => $pooler;
	waitpid $pooler, 0;
	delete $Paddock::beside{$pooler};
	undef $pooler;
}

END { if ( $pooler && $$ == $owner ) { local ( $?, $! ); end() } }

{
	my ( $root, $url ) = begin(1);

	Paddock::write_file( "$root/paddock.conf", "[store]\nurl = $url\n" );
	for my $check ( '--check', '' ) {
		my $out = `timeout -s KILL $PATIENCE $BUILD/paddockd $check --config $root/paddock.conf --state-dir $root/state --socket $root/sock 2>&1`;

		is( $? >> 8, 78, "a pooler that gives each transaction another session ends a start: paddockd $check" ) or diag($out);
		like( $out, qr/a pooler before it gives each transaction another session; name PostgreSQL itself in url, or .*pool_mode = session/,
			'  which says what stands there, and what would do' );
	}
	is( ( postgres_sql( 'SELECT to_regclass(\'paddock_schema\')', $url ) )[0], '', '  and nothing was made there' );
	end();
}
{
	my ( $root, $url ) = begin(0);
	my $s = Daemon->new( templates => { echo => lua('return inputs') }, config => "[store]\nurl = $url\n" );

	is( $s->client->greeted->run_sync( echo => { n => 1 } )->{result}{n}, 1, 'with one that keeps a session for each client runs are made' );
	$s->stop;
	end();
}
done_testing();
