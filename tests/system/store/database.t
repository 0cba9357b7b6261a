#!/usr/bin/perl
# SPDX-License-Identifier: Apache-2.0
# A server with the record in PostgreSQL: the errors for an unusable database, recovery, and
# the view of another server.
use lib 'tests/lib';
use Paddock;
use Daemon;

BEGIN {
	needs('postgres');
	exec 'tests/tools/with-postgres', $^X, $0 unless $ENV{PADDOCK_TEST_POSTGRES};
}

my %templates = (
	nap  => lua('run.sleep(inputs.ms) return inputs.n'),
	doze => lua('run.progress(0, 1, "dozing") while true do run.sleep(60000) end'),
);
my $PASSWORD = 'n0b0dys';

sub server { return Paddock->new( templates => \%templates, config => "[limits]\nmax_concurrent_runs = 3\n", @_ ) }

# ---- a daemon that cannot use it ----

# The exit status and output of a daemon with [store] url = URL.
sub daemon {
	my ($url) = @_;
	my $root = Paddock::fresh_root();

	mkdir "$root/templates";
	write_file( "$root/c.conf", "[store]\nurl = $url\n" );
	my $said = qx{timeout 50 $BUILD/paddockd --config $root/c.conf --state-dir $root/state \\
	    --socket $root/sock --templates $root/templates 2>&1 </dev/null};
	return ( $? >> 8, $said );
}

{
	my ( $status, $said ) = daemon('postgresql://ada@/runs?host=/nonexistent/folder');

	is( $status, 69, 'a database that cannot be reached ends the start' );
	like( $said, qr{the database cannot be used: postgresql:///runs: .*see whether PostgreSQL runs there},
		'  which says what to see to' );

	my $newer = postgres_url('newer');
	postgres_sql( 'CREATE TABLE paddock_schema AS SELECT 99 AS version', $newer );
	( $status, $said ) = daemon($newer);
	is( $status, 78, 'so does one of a newer paddock' );
	like( $said, qr/its schema has version 99, and this paddockd knows \d+/, '  which says so' );

	postgres_sql("CREATE DATABASE latin ENCODING 'LATIN1' TEMPLATE template0 LC_COLLATE 'C' LC_CTYPE 'C'");
	( $status, $said ) = daemon( postgres_url('latin') =~ s{/postgres\?}{/latin?}r );
	is( $status, 78, 'so does one that cannot hold each text' );
	like( $said, qr/its encoding is LATIN1, and a database of paddock's has UTF8/, '  which says what it needs' );

	for my $url ( "postgresql://ada:$PASSWORD\@localhost/runs", "postgresql:///runs?user=ada&password=$PASSWORD",
		"postgresql:///runs?pass%77ord=$PASSWORD", "mysql://$PASSWORD" ) {
		( $status, $said ) = daemon($url);
		is( $status, 78, "$url is no url here" =~ s/$PASSWORD/.../r );
		like( $said, qr/url: expected postgresql:.* without a password/, '  nor is it repeated' );
		unlike( $said, qr/$PASSWORD/, '  with its password' );
	}
}

# ---- one that can ----

{
	my $s = server();
	my ( $v, $on );

	$s->init;
	$v = $s->run_sync( nap => { ms => 1, n => 7 } );
	is( $v->{result}, 7, 'a run is recorded in the database' );
	ok( !-e "$s->{state}/paddock.db", '  and not in the state folder' );
	$on = $s->run_async('doze');
	$s->saying( $on, 'dozing' );
	my $url = postgres_url( $s->{state} );
	postgres_sql( 'SELECT pg_terminate_backend(pid) FROM pg_stat_activity'
		. ' WHERE pid <> pg_backend_pid() AND application_name = current_schema()', $url );
	is( $s->run_sync( nap => { ms => 1, n => 8 } )->{result}, 8, 'when its connection is ended, it makes another' );
	$s->tool( cancel_task_run => { runId => $on } );
	is( $s->ended($on)->{status}, 'canceled', '  and what ran goes on, to its end' );
	is( $s->tool('list_task_runs')->{view}{total}, 3, '  nothing is there twice' );

	# a second machine: a state folder of its own, and the same database
	my $t = Paddock->new( templates => \%templates, config => "[limits]\nmax_concurrent_runs = 3\n[store]\nurl = $url\n" );
	$t->init;
	same_json( $t->get_less_node( $v->{runId} ), $v, 'another server on it sees the same run' );
	$on = $s->run_async('doze');
	$s->saying( $on, 'dozing' );
	is( $t->get($on)->{status}, 'running', '  one that goes on, too' );
	$t->tool( cancel_task_run => { runId => $on } );
	is( $s->ended($on)->{status}, 'canceled', '  and may end it' );
	$t->stop;

	# a crash of one process of the database, which then restarts as a whole
	$on = $s->run_async( nap => { ms => 200, n => 9 } );
	my ($backend) = postgres_sql( 'SELECT pid FROM pg_stat_activity'
		. ' WHERE pid <> pg_backend_pid() AND application_name = current_schema() LIMIT 1', $url );
	kill KILL => $backend or die "$backend: $!\n";
	is( $s->ended($on)->{result}, 9, 'what was promised outlives a crash of the database' );
	until_true( 'a run after that', sub { ( $s->run_sync( nap => { ms => 1, n => 10 } )->{result} // 0 ) == 10 } );
	same_json( $s->get($on)->{status}, 'succeeded', '  and is there afterwards' );

	# taken for dead: the server may not overwrite the new state of its runs
	$on = $s->run_async('doze');
	$s->saying( $on, 'dozing' );
	postgres_sql( 'DELETE FROM node', $url );
	$s->log_has(qr/(another server has taken over)/);
	is( $s->ended($on)->{error}{errorCode}, 'RUN_INTERRUPTED', 'what was run by who was taken for dead has ended' );
	until_true( 'a run after that', sub { ( $s->run_sync( nap => { ms => 1, n => 11 } )->{result} // 0 ) == 11 } );
	like( $s->log_text, qr/after="taken for dead"/, '  and it goes on as another, by itself' );
	$s->stop;
}

done_testing();
