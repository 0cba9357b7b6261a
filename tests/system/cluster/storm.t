#!/usr/bin/perl
# SPDX-License-Identifier: Apache-2.0
# Three servers on one database under a load of runs, with random events: a node is killed
# and returns, is stopped for a while, loses connections, all nodes lose connections, the
# database dies. Every acknowledged run ends once. PADDOCK_RUNS and PADDOCK_SECONDS bound
# the test, whichever is reached first; PADDOCK_SEED repeats the events.
use lib 'tests/lib';
use Paddock;

BEGIN {
	needs('postgres');
	exec 'tests/tools/with-postgres', $^X, $0 unless $ENV{PADDOCK_TEST_POSTGRES};
}
use Cluster;
use Time::HiRes qw(time);

my $RUNS = $ENV{PADDOCK_RUNS} // 300;
my $SECONDS = $ENV{PADDOCK_SECONDS} // 15;
my $SEED = $ENV{PADDOCK_SEED} // time & 0xffffff;
my $EVERY = $SECONDS > 60 ? 8 : 2; # seconds from one blow to the next, on average

srand $SEED;
note("PADDOCK_SEED=$SEED PADDOCK_RUNS=$RUNS PADDOCK_SECONDS=$SECONDS");

my %templates = (
	nap  => lua('run.sleep(inputs.ms) return inputs.n'),
	file => lua('run.artifact{name = "a", mimeType = "text/plain", data = string.rep("a", 3000)} run.sleep(inputs.ms) return inputs.n'),
	prog => { program => "#!/bin/sh\nsleep 0.05\necho 1\n" },
);
my @names = ( ('nap') x 6, 'file', 'prog' );
my $c = Cluster->new( templates => \%templates, limits => { max_concurrent_runs => 12 } );
my ( %down, %done, $stopped );

# The events: each leaves at least one working node.
my %blow = (
	kill => sub {
		my ($n) = grep { !$down{$_} } sort { rand() <=> 0.5 } 0 .. 2;
		return if keys %down;
		$c->kill_node($n);
		$down{$n} = 'killed';
	},
	stop => sub {
		return if keys %down;
		my $n = int rand 3;
		kill STOP => $c->node($n)->{pid};
		$down{$n} = 'stopped';
	},
	heal => sub {
		for my $n ( keys %down ) {
			kill CONT => $c->node($n)->{pid} if $down{$n} eq 'stopped';
			$c->again($n) if $down{$n} eq 'killed';
			delete $down{$n};
		}
	},
	connections => sub { $c->end_backends( int rand 3 ) },
	all_connections => sub { $c->end_backends },
	database => sub { $c->restart_database( rand 1.5 ) },
);
my @weighed = ( qw(kill stop connections all_connections database), ('heal') x 4 );
my $next = time + rand 2 * $EVERY;
my $end = time + $SECONDS;
my $load = $c->load( runs => $RUNS, at_once => 32, until => $end,
	template => sub { my ($n) = @_; return ( $names[ $n * 7919 % 8 ], { n => $n, ms => $n * 7919 % 200 } ) } );

my $began = time;
$load->go( sub {
	return if time < $next;
	my $name = $weighed[ rand @weighed ];
	$blow{$name}->();
	$done{$name}++;
	$next = time + rand 2 * $EVERY;
} );
$blow{heal}->();
my $took = time - $began;
$load->check;
is_deeply( [ $load->wrong ], [], 'each run that was acknowledged has ended once' ) or diag("PADDOCK_SEED=$SEED");
cmp_ok( $load->{how}{succeeded} // 0, '>', $load->acked / 2, 'most have succeeded' );
note( sprintf '%d runs in %.0f s; %s; %s', $load->acked, $took, json_of( \%done ), $load->words );
$c->stop;
done_testing();
