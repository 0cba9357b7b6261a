#!/usr/bin/perl
# SPDX-License-Identifier: Apache-2.0
# Reports about a database server: before a start (paddockd --check), by readyz, and by
# "paddock status" and "paddock doctor".
use lib 'tests/lib';
use Paddock;
use Http;

BEGIN {
	needs('postgres');
	exec 'tests/tools/with-postgres', $^X, $0 unless $ENV{PADDOCK_TEST_POSTGRES};
}
use Postgres;

my $PASSWORD = 'n0b0dys';

# ---- before a start ----

# The exit status and output of paddockd --check with [store] url = URL.
sub check {
	my ($url) = @_;
	my $root = Paddock::fresh_root();

	mkdir "$root/templates";
	write_file( "$root/c.conf", "[store]\nurl = $url\n" );
	my $said = qx{HOME=$root PGPASSFILE=$root/none timeout 50 $BUILD/paddockd --check --config $root/c.conf \\
	    --state-dir $root/state --socket $root/sock --templates $root/templates 2>&1 </dev/null};
	return ( $? >> 8, $said );
}

my $url = postgres_url('told');
my ( $status, $said ) = check($url);

is( $status, 0, 'a database that is there does' );
like( $said, qr{^paddockd: the database postgresql:///postgres: PostgreSQL \d+\.\d+, no schema yet, answers in}m,
	'  and is told of' );
is( ( postgres_sql( 'SELECT count(*) FROM pg_tables WHERE schemaname = current_schema()', $url ) )[0],
	0, '  nothing is made there' );

( $status, $said ) = check('postgresql://ada@/runs?host=/nonexistent/folder');
is( $status, 69, 'one that cannot be reached would end the start' );
like( $said, qr{the database cannot be used: postgresql:///runs: .*see whether PostgreSQL runs there}, '  in these words' );

( $status, $said ) = check( "$url&options=-cdefault_transaction_read_only%3Don" =~ s/&options=-csearch_path[^&]*//r );
is( $status, 69, 'so would one that takes no writes' );
like( $said, qr{it was set read-only; promote it, or name the one that does in url}, '  which says who does' );

postgres_sql( 'CREATE TABLE paddock_schema AS SELECT 99 AS version', postgres_url('told newer') );
( $status, $said ) = check( postgres_url('told newer') );
is( $status, 78, 'and one of a newer paddock' );
like( $said, qr/its schema has version 99, and this paddockd knows \d+/, '  with both versions' );

( $status, $said ) = check("postgresql://ada:$PASSWORD\@localhost/runs");
is( $status, 78, 'a url with a password is none' );
unlike( $said, qr/$PASSWORD/, '  nor is that repeated' );

# ---- while it serves ----

local $ENV{PADDOCK_TEST_STORE} = 'postgres';
my $s = Http->new( templates => { echo => lua('return inputs') } );
$url = postgres_url( $s->{state} );

sub readyz { return $s->fetch( 'GET', '/readyz', {} ) }

my $told = until_true( 'that it is measured', sub { my $d = readyz()->{json}{database}; $d->{latencyUs} ? $d : undef } );
ok( $told->{reachable}, 'readyz says that the database is reached' );
is( $told->{nodes},   1, '  by how many nodes' );
is( $told->{waiting}, 0, '  and that nothing waits to be written' );
is_deeply( [ sort keys %$told ], [qw(latencyUs nodes reachable waiting)], '  and neither its name nor a version' );

sub command {
	my (@args) = @_;
	my $text = qx{HOME=$s->{root} timeout 50 $BUILD/paddock @args --socket $s->{socket} 2>&1 </dev/null};

	return ( $? >> 8, $text );
}
my $line = qr{^database\s+postgresql:///postgres: PostgreSQL \d+\.\d+, schema \d+, answers in [\d.]+ ms, nodes that live: 1$}m;

for my $what (qw(status doctor)) {
	( $status, $said ) = command($what);
	like( $said, $line, "paddock $what tells of it" );
}

( $status, $said ) = check($url);
like( $said, qr/PostgreSQL \d+\.\d+, schema \d+, .*nodes that live: 1$/m, 'so does --check, beside a server that uses it' );

# the database goes away: the last known facts stay, and the database is reported
# unreachable. Logins are denied before the connections end, since a quick client would
# reconnect otherwise.
postgres_sql( 'BEGIN; ALTER ROLE paddock NOLOGIN; COMMIT; SELECT pg_terminate_backend(pid) FROM pg_stat_activity'
	. ' WHERE pid <> pg_backend_pid() AND application_name = current_schema()', $url );
my $r = until_true( 'that it is not reached', sub { my $r = readyz(); $r->{json}{database}{reachable} ? undef : $r } );
is( $r->{status}, 503, 'one that lets nobody in any more makes it not ready' );
like( $r->{json}{reason}, qr/^its database /, '  which says why' );
( $status, $said ) = command('status');
like( $said, qr{^database\s+postgresql:///postgres: not reachable}m, '  and so does paddock status' );
isnt( $status, 0, '  which fails' );
( $status, $said ) = command('ps');
like( $said, qr{^  hint: "paddock status --socket \S+" says what has to be mended}m, 'a command that is refused for it leads there' );
( $status, $said ) = command('run echo --json');
like( $said, qr{"recoverHint":"try again later; \\"paddock status\\" tells the operator}, '  and so does what a client is told' );

$s->stop;
done_testing();
