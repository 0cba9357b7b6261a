#!/usr/bin/perl
# SPDX-License-Identifier: Apache-2.0
# paddockd --import into a database on which a server lives and works: no run of the server is
# lost or delayed beyond the import, and the server has the imported runs, files and sessions.
use lib 'tests/lib';
use Paddock;
use Http;
use Digest::SHA qw(sha256_hex);

BEGIN {
	needs( 'postgres', 'sqlite3' );
	exec 'tests/tools/with-postgres', $^X, $0 unless $ENV{PADDOCK_TEST_POSTGRES};
}
use Postgres;

my %ADA = ( Authorization => 'Bearer a' );
my %USE = ( templates => { makes => lua('run.artifact{name = "a", data = ("x"):rep(inputs.n)} return inputs.n'), echo => lua('return inputs'),
		doze => lua('run.progress(0, 1, "dozing") while true do run.sleep(60000) end', limits => {maxTimeoutMs => 600000}) }, tokens => { ada => 'a', bob => 'b' } );
my $old = Http->new( %USE, config => "[store]\n[limits]\nmax_concurrent_runs = 1\n" );
my ( $ada, $bob ) = map { $old->client($_)->greeted } qw(ada bob);
my @made = map { $ada->run_sync( makes => { n => $_ } ) } 1 .. 20;
my $large = 'abcdefg' x 400_000;
my $id = $old->fetch( 'PUT', '/artifacts?name=u', {%ADA}, $large )->{json}{artifactId};
my $on = $bob->run_async('doze');
until_true( 'a run that goes on', sub { ( $bob->get($on)->{status} // '' ) eq 'running' } );
my $waits = $ada->run_async( echo => { n => 1 } );
my $session = $ada->{session};
$old->kill9;

my $url = postgres_url('import_beside');
my $config = Paddock::fresh_root() . '/import.conf';
write_file( $config, "[store]\nurl = $url\n" );
my $live = Http->new( %USE, config => "[store]\nurl = $url\n[limits]\nmax_concurrent_runs = 8\n" );
my $mine = $live->client('ada')->greeted;
my $before = $mine->run_sync( makes => { n => 100 } );
my $busy = $mine->run_async('doze');
until_true( 'a run of the living server', sub { $mine->get($busy)->{status} eq 'running' } );

# ---- the import, beside calls ----

open my $import, '-|', "timeout 60 $BUILD/paddockd --config $config --import $old->{state} 2>&1 </dev/null" or die "import: $!\n";
my @calls = map { $mine->run_sync( makes => { n => $_ } ) } 1 .. 20;
my $said = do { local $/; <$import> };
close $import;
is( $? >> 8, 0, 'a state is imported beside a living server' ) or diag($said);
like( $said, qr/^imported 22 runs, 21 artifacts of \d+ bytes/, 'the import tells what was imported' );
is( scalar( grep { $_->{status} eq 'succeeded' } @calls ), 20, 'calls to the living server during the import succeed' );

# ---- what the living server has ----

same_json( $mine->get( $made[3]{runId} ), $made[3], 'the living server has an imported run' );
same_json( $mine->get( $before->{runId} ), $before, 'the living server has an earlier run of its own' );
is( sha256_hex( $live->fetch( 'GET', "/artifacts/$id", {%ADA} )->{body} ), sha256_hex($large), 'the living server has an imported file' );
is( $mine->get($busy)->{status}, 'running', 'a run of the living server goes on' );
my $bobs = $live->client('bob')->greeted;
until_true( 'the end of the run that went on', sub { ( $bobs->get($on)->{error}{errorCode} // '' ) eq 'RUN_INTERRUPTED' } );
is( $bobs->get($on)->{error}{errorCode}, 'RUN_INTERRUPTED', 'an imported run that went on is interrupted by the living server' );
is( $mine->ended($waits)->{result}{n}, 1, 'an imported run that waited is begun by the living server' );
is( $mine->ended($waits)->{status}, 'succeeded', 'the waiting run is begun once' );
my $again = $live->client('ada');
$again->{session} = $session;
is( ( $again->call('ping')->{error} // {} )->{code}, undef, 'an imported session goes on at the living server' );

# ---- counts ----

# of each writer a row
is_deeply( [ postgres_sql( 'SELECT requestor, template_id, status, sum(n) FROM counts GROUP BY 1, 2, 3 HAVING sum(n) <> 0 ORDER BY 1, 2, 3', $url ) ],
	[ postgres_sql( 'SELECT requestor, template_id, status, count(*) FROM runs GROUP BY 1, 2, 3 ORDER BY 1, 2, 3', $url ) ], 'the counts of runs are those of the rows' );
is_deeply( [ postgres_sql( 'SELECT requestor, sum(artifact_bytes) FROM usage GROUP BY 1 ORDER BY 1', $url ) ],
	[ postgres_sql( 'SELECT q, coalesce((SELECT sum(size) FROM artifacts WHERE requestor = q AND gone = 0), 0) FROM (SELECT DISTINCT requestor AS q FROM usage) AS v ORDER BY 1', $url ) ], 'the counts of bytes are those of the rows' );
my $twice = qx{timeout 60 $BUILD/paddockd --config $config --import $old->{state} 2>&1 </dev/null};
like( $twice, qr/nothing was copied|imported before/, 'a second import copies nothing' );
$mine->tool( cancel_task_run => { runId => $busy } );
is( $mine->ended($busy)->{status}, 'canceled', 'the run of the living server is cancelled' );
$live->stop('the living server ends');
done_testing();
