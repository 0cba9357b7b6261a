#!/usr/bin/perl
# SPDX-License-Identifier: Apache-2.0
# The node which executed an ended run: shown to operators, in the view of a run and in
# lists, also when the server is gone; not to other requestors, and not where the record is
# SQLite.
use lib 'tests/lib';
use Paddock;
use Daemon;

BEGIN {
	needs('postgres');
	exec 'tests/tools/with-postgres', $^X, $0 unless $ENV{PADDOCK_TEST_POSTGRES};
}
use Nodes;
use Postgres;

my $doze = 'run.progress(0, 1, "dozing") while true do run.sleep(60000) end';
my %again = ( annotations => { idempotentHint => true }, limits => { maxTimeoutMs => 600_000 } );
my %templates = (
	nap   => lua('run.sleep(1) return inputs.n'),
	large => lua('return string.rep("x", 400000)'),
	doze  => lua( $doze, limits => { maxTimeoutMs => 600_000 } ),
	twice => lua( $doze, %again, retry => { attempts => 2, backoffMs => 1 } ),
	late  => lua( $doze, %again, retry => { attempts => 2, backoffMs => 60_000 } ),
);

sub listed {
	my ( $c, $run, %f ) = @_;
	my ($row) = grep { $_->{runId} eq $run } @{ $c->tool( list_task_runs => {%f} )->{view}{runs} };

	return ( $row // { node => 'not listed' } )->{node};
}

sub paddock {
	my ( $s, @args ) = @_;
	return join '', qx{$BUILD/paddock @args --socket $s->{socket} 2>&1};
}

# Check that client C and the command at S show NODE for RUN, or no node.
sub told {
	my ( $s, $c, $run, $node, $name ) = @_;
	my $view = $c->get($run);

	local $Test::Builder::Level = $Test::Builder::Level + 1;
	is( $view->{node}, $node, $name );
	ok( exists $view->{node} == defined $node, '  or it is absent' );
	is( listed( $c, $run, %$_ ), $node, '  in a list' . ( %$_ ? " by @{[keys %$_]}" : '' ) )
	    for {}, { status => $view->{status} }, { templateId => $view->{templateId} };
	my ($line) = paddock( $s, 'ps', '-a' ) =~ /^(\Q$run\E .*)$/m;
	my ($status) = paddock( $s, 'status', $run ) =~ /^node +(\S+)$/m;
	is( ( $line =~ /(node\d+)\s*\z/ )[0], $node, '  in ps' );
	is( $status, $node, '  in status' );
	return;
}

# ---- PostgreSQL ----
{
	my ( $one, $two ) = map { node( 'ended', templates => \%templates, config => { max_concurrent_runs => 3 } ) } 1, 2;
	$_->ready for $one, $two;
	my ( $a, $b ) = map { $_->client->greeted } $one, $two;
	my $done = $a->run_sync( nap => { n => 1 } )->{runId};

	told( $one, $a, $done, $one->{name}, 'operators are told by the server that ran it which did' );
	told( $two, $b, $done, $one->{name}, 'and by another' );
	my $large = $a->run_async('large');
	is( $_->ended($large)->{node}, $one->{name}, 'also of a large one' ) for $a, $b;
	is( length( $b->get($large)->{result} // '' ), 400_000, '  with all of it' );

	my $rests = $b->run_async('late');
	$b->saying( $rests, 'dozing' );
	kill KILL => $b->worker_pid($rests);
	$a->get_until( $rests, 'to rest', sub { $_->{status} eq 'queued' && @{ $_->{attempts} // [] } } );
	is( listed( $a, $rests ), undef, 'a list names none for what waits again' );
	$b->tool( cancel_task_run => { runId => $rests } );
	is( $a->ended($rests)->{node}, $two->{name}, '  and that of the last attempt, when it ends so' );

	my ($killed) = $a->run_async('doze');
	my $tried = $a->run_async('twice');
	$a->saying( $_, 'dozing' ) for $killed, $tried;
	my @full = map { $b->run_async('doze') } 1 .. 3;
	$b->saying( $_, 'dozing' ) for @full;
	$a->saying( $a->run_async('doze'), 'dozing' );
	my $never = $a->run_async('doze');
	$one->kill9;
	is( $b->ended($killed)->{error}{errorCode}, 'RUN_INTERRUPTED', 'a server dies' );
	told( $two, $b, $killed, $one->{name}, '  which is told of what it ran' );
	$b->tool( cancel_task_run => { runId => $never } );
	is( $b->ended($never)->{status}, 'canceled', 'what waited is cancelled' );
	told( $two, $b, $never, undef, '  and was nowhere' );
	$b->tool( cancel_task_run => { runId => $_ } ) for @full;
	$b->saying( $tried, 'dozing' );
	is( listed( $b, $tried ), $two->{name}, 'what is tried again is where it is' );
	$b->ended($_) for @full;
	strays_gone();

	if ( as_root() ) {
		chmod 0777, $two->{socket};
		chmod 0755, $two->{root};
		my $other = $two->client($Needs::ORDINARY)->greeted;
		my $theirs = $other->run_sync( nap => { n => 1 } )->{runId};
		my $failed = $other->run_async( doze => undef, timeoutMs => 1 );

		$other->ended($failed);
		for my $run ( $theirs, $failed ) {
			ok( !exists $other->get($run)->{node}, 'nobody else is told' );
			is( listed( $other, $run ), undef, '  by a list either' );
		}
		unlike( json_of( $other->call( 'resources/read', { uri => "paddock://runs/$theirs" } ) ), qr/\Q$two->{name}\E/, '  or by the resource of a run' );
	}
	my $three = node( 'ended', templates => \%templates );
	my $c = $three->ready && $three->client->greeted;
	$two->kill9;
	is( $c->ended($tried)->{error}{errorCode}, 'RUN_INTERRUPTED', 'what has had all its attempts is tried no more' );
	told( $three, $c, $tried, $two->{name}, '  and was where the last one was' );
	strays_gone();
	$three->stop('the third stops');

	# an old schema, and the server which migrates the schema
	my $url = postgres_url('ended');
	postgres_sql( <<'SQL' =~ s/\n/ /gr, $url );
ALTER TABLE runs DROP COLUMN node;
DROP TRIGGER node_joined ON node;
DROP FUNCTION node_joined();
DROP TABLE epoch;
DROP FUNCTION paddock_queue_room(text, bigint, text);
DROP TRIGGER residents_die ON node;
DROP FUNCTION residents_die();
DROP TABLE residents;
ALTER TABLE queue DROP COLUMN resident;
ALTER TABLE node ADD COLUMN batch bigint NOT NULL DEFAULT 0;
CREATE TRIGGER node_writes BEFORE UPDATE OF batch ON node FOR EACH ROW EXECUTE FUNCTION node_writes();
UPDATE paddock_schema SET version = 12
SQL
	my $next = node( 'ended', templates => \%templates );
	$c = $next->ready && $next->client->greeted;
	told( $next, $c, $done, undef, 'of a run that was recorded before that was' );
	unlike( paddock( $next, 'ps', '-a' ), qr/NODE/, '  and no column is there for nothing' );
	told( $next, $c, $c->run_sync( nap => { n => 1 } )->{runId}, $next->{name}, 'but of one since then' );
	$next->stop('the server with a node name stops');
}

# ---- SQLite ----
{
	local $ENV{PADDOCK_TEST_STORE};
	my @o = ( config => "[server]\nnode_name = node9\n" );
	my $s = Daemon->new( templates => \%templates, @o );
	my $c = $s->client->greeted;

	told( $s, $c, $c->run_sync( nap => { n => 1 } )->{runId}, undef, 'where there are no others' );
	my $run = $c->run_async('doze');
	$c->saying( $run, 'dozing' );
	$s->kill9;
	strays_gone();
	$s = $s->again(@o);
	$c = $s->client->greeted;
	is( $c->ended($run)->{error}{errorCode}, 'RUN_INTERRUPTED', 'a server dies, and comes back' );
	told( $s, $c, $run, undef, '  and is not named' );
	$s->stop('the server after the crash stops');
}
done_testing();
