#!/usr/bin/perl
# SPDX-License-Identifier: Apache-2.0
# paddockd --import: a state of SQLite copied to PostgreSQL, with each kind of row, once and
# whole; an error names the obstacle, and then no row was copied.
use lib 'tests/lib';
use Paddock;
use Http;
use Digest::SHA qw(sha256_hex);

BEGIN {
	needs( 'postgres', 'sqlite3' );
	exec 'tests/tools/with-postgres', $^X, $0 unless $ENV{PADDOCK_TEST_POSTGRES};
}
use Postgres;

my %ADA   = ( Authorization => 'Bearer a' );
my %USE   = ( templates => { makes => lua('run.artifact{name = "a", data = ("x"):rep(inputs.n)} return inputs.n'),
		fails => lua('error("no")'), doze => lua('run.progress(0, 1, "dozing") while true do run.sleep(60000) end') },
	tokens => { ada => 'a', bob => 'b' } );
my $large = 'abcdefg' x 400_000;
my $s     = Http->new( %USE, config => "[store]\n" );
my $state = $s->{state};
my ( $ada, $bob ) = map { $s->client($_)->greeted } qw(ada bob);
my $made  = $ada->run_sync( makes => { n => 70000 } );
my $failed = $ada->run_sync( fails => {} );
my $gone  = $bob->run_sync( makes => { n => 5 } );
my @id    = map { $s->fetch( 'PUT', '/artifacts?name=u', {%ADA}, $_ )->{json}{artifactId} } $large, 'gone', '';

$bob->call( 'paddock/deleteRuns', { runIds => [ $gone->{runId} ] } );
is( $s->fetch( 'DELETE', "/artifacts/$id[1]", {%ADA} )->{status}, 204, 'an upload is deleted' );
my $on = $bob->run_async('doze');
until_true( 'a run that goes on', sub { ( $bob->get($on)->{status} // '' ) eq 'running' } );

# The exit status and the output.
my $config = Paddock::fresh_root() . '/import.conf';
sub config_of { write_file( $config, "[store]\nurl = $_[0]\n" . ( $_[1] // '' ) ) }
sub import_of {
	my ( $dir ) = @_;
	my $said = qx{timeout 60 $BUILD/paddockd --config $config --import $dir 2>&1 </dev/null};
	return ( $? >> 8, $said );
}
my $url = postgres_url('import');
config_of($url);

# ---- refused ----
my ( $status, $said ) = import_of($state);
is( $status, 69, 'a state on which a server lives is not imported' );
like( $said, qr{^paddockd: nothing was imported: \Q$state\E: a server lives on this state \(inst_\w+\); end it}, '  as is said' );
kill KILL => $s->{pid}; # so that a run is left as it was
$s->wait_exit;
# an ended run which was still staged
my $late = $made->{runId} =~ s/.{6}\z/zzzzzz/r;
qx{python3 -c 'import sqlite3, sys
c = sqlite3.connect(sys.argv[1])
cols = [r[1] for r in c.execute("PRAGMA table_info(staged)")]
from_run = {"seq": "NULL", "id": "?", "view": "NULL", "keeps_inputs": "0", "bytes": "512 + length(inputs)"}
c.execute("INSERT INTO staged SELECT %s FROM runs WHERE id = ?" % ", ".join(from_run.get(n, n) for n in cols), (sys.argv[3], sys.argv[2]))
c.commit()' $state/paddock.db $made->{runId} $late};
is( $?, 0, 'one is staged' );
( $status, $said ) = import_of("$state/none");
is( "$status $said", "69 paddockd: nothing was imported: $state/none/paddock.db: No such file or directory; name a state folder with a record of runs\n",
	'nor one that is not there' );
write_file( "$config.none", "[limits]\n" );
is( qx{$BUILD/paddockd --config $config.none --import $state 2>&1 </dev/null}, "paddockd: there is no database to import into: set url in [store] of the configuration\n",
	'nor into none' );
is( $? >> 8, 78, '  which is the configuration\'s fault' );

# ---- damaged ----
my ($file) = glob "$state/artifacts/$made->{runId}/*";
my $held = read_file($file);
chmod 0600, $file;
write_file( $file, 'y' x length $held );
( $status, $said ) = import_of($state);
is( $status, 69, 'an artifact that is another than it was' );
like( $said, qr{\Q$file\E: its SHA-256 is another than it was; restore that file}, '  is named' );
truncate $file, 9;
like( ( import_of($state) )[1], qr{\Q$file\E: it is shorter than it was}, 'so is one that is cut off' );
write_file( $file, $held );
mkdir "$state.broken" or die "$state.broken: $!\n";
write_file( "$state.broken/paddock.db", 'no database ' x 1000 );
( $status, $said ) = import_of("$state.broken");
is( $status, 69, 'a file that is damaged is not imported' );
like( $said, qr{\Q$state\E\.broken/paddock.db: file is not a database; it is damaged}, '  as is said' );
is( ( postgres_sql( 'SELECT count(*) FROM runs', $url ) )[0], 0, 'and nothing is there of all that' );

# ---- interrupted ----
my $let_go = postgres_held($url);
my $pid = fork // die "fork: $!\n";
if ( $pid == 0 ) { open STDOUT, '>', '/dev/null'; exec "$BUILD/paddockd", '--config', $config, '--import', $state or POSIX::_exit(127) }
until_true( 'an import that waits', sub { ( postgres_sql( "SELECT count(*) FROM pg_stat_activity WHERE wait_event_type = 'Lock' AND application_name = current_schema()", $url ) )[0] } );
kill KILL => $pid;
waitpid $pid, 0;
$let_go->();
is( ( postgres_sql( 'SELECT count(*) FROM runs', $url ) )[0], 0, 'one that is killed leaves nothing' );

# ---- done ----
( $status, $said ) = import_of($state);
my $bytes = 70000 + length $large;
is( $said, "imported 4 runs, 3 artifacts of $bytes bytes and 2 sessions of $state\n", 'it is imported' );
is( $status, 0, '  with success' );
( $status, $said ) = import_of($state);
is( "$status $said", "0 imported before: 7 runs and artifacts of $state are all there\n", 'a second time it is there already' );

# Counters, compared with new counts of all rows.
my @counts = postgres_sql( 'SELECT requestor, template_id, status, n FROM counts WHERE n > 0 ORDER BY 1, 2, 3', $url );
is_deeply( \@counts, [ postgres_sql( 'SELECT requestor, template_id, status, count(*) FROM runs GROUP BY 1, 2, 3 ORDER BY 1, 2, 3', $url ) ], 'runs are counted as they are' );
is_deeply( [ postgres_sql( 'SELECT requestor, artifact_bytes, row_bytes FROM usage ORDER BY 1', $url ) ], [ postgres_sql( 'SELECT q, coalesce((SELECT sum(size) FROM artifacts WHERE requestor = q AND gone = 0), 0),'
	. ' coalesce((SELECT sum(bytes) FROM runs WHERE requestor = q), 0) FROM (SELECT requestor AS q FROM usage) AS v ORDER BY 1', $url ) ], '  and what they have' );
my @used = qx{python3 -c 'import sqlite3, sys
c = sqlite3.connect(sys.argv[1])
c.execute("UPDATE used SET runs = used.runs + 1, cpu_ms = used.cpu_ms + s.cpu_ms, bytes = used.bytes + s.bytes FROM (SELECT * FROM staged) AS s"
          " WHERE used.requestor = s.requestor AND used.template_id = s.template_id AND used.hour = s.created_ms / 3600000")
for row in c.execute("SELECT * FROM used ORDER BY 1, 2, 3"): print("|".join(map(str, row)))' $state/paddock.db};
chomp @used;
is_deeply( [ postgres_sql( 'SELECT requestor, template_id, hour, runs, cpu_ms, bytes FROM used ORDER BY 1, 2, 3', $url ) ], \@used, '  and what was used, also by what is gone' );

# ---- served ----
my $t = Http->new( %USE, config => "[store]\nurl = $url\n" );
my $client = $t->client('ada')->greeted;
same_json( $client->get( $made->{runId} ), $made, 'a server on the database has a run of it' );
same_json( $client->get( $failed->{runId} ), $failed, '  and one that failed' );
is( $client->get($late)->{status}, 'succeeded', '  and one that was staged' );
is( sha256_hex( $t->fetch( 'GET', "/artifacts/$id[0]", {%ADA} )->{body} ), sha256_hex($large), '  with bytes of what was uploaded' );
is( $t->fetch( 'GET', "/artifacts/$made->{artifacts}[0]{artifactId}", {%ADA} )->{body}, $held, '  and of what a run made' );
my $bobs = $t->client('bob')->greeted;
ok( until_true( 'its end', sub { ( $bobs->get($on)->{error}{errorCode} // '' ) eq 'RUN_INTERRUPTED' } ), '  and what went on when it ended was interrupted' );
( $status, $said ) = import_of($state);
is( $status, 69, 'what has changed there since is not written over' );
like( $said, qr/the database has another run run_\w+, .* nothing was copied/, '  as is said' );
$t->stop;

# ---- into a folder ----
my $folder = Paddock::fresh_root();
my $beside = postgres_url('beside');
config_of( $beside, "artifacts = folder:$folder\n" );
( $status, $said ) = import_of($state);
is( $status, 0, "it is imported with a folder for artifacts: $said" );
is( read_file("$folder/artifacts/$made->{runId}/$made->{artifacts}[0]{artifactId}"), $held, '  which are there' );
is( ( postgres_sql( 'SELECT count(*) FROM artifact_chunk', $beside ) )[0], 0, '  and not in the database' );

done_testing();
