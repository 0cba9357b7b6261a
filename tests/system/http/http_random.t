#!/usr/bin/perl
# SPDX-License-Identifier: Apache-2.0
# HTTP clients which act rightly and wrongly at random, in both eras: each request is
# answered once, in the right place, and no requestor sees another's data. PADDOCK_SEED
# selects the steps, PADDOCK_STEPS the number.
use lib 'tests/lib';
use Paddock;
use Http;
use Storm;

my $SEED = $ENV{PADDOCK_SEED} // 20251125;
my $STEPS = $ENV{PADDOCK_STEPS} // 3000;
my $usual = !$ENV{PADDOCK_SEED} && !$ENV{PADDOCK_STEPS};
my %templates = (
	echo => lua('return inputs'),
	nap => lua('run.progress(1, 3, "one") run.progress(1, 3, "still one") run.log("info", "a line") run.sleep(inputs.ms)
		    run.progress(2, 3, "two") return {n = inputs.n}'),
	asks => lua('local ok, got = pcall(run.elicit, {message = "who?", timeout = 300,
		     schema = {type = "object", properties = {}}}) return {ok = ok}'),
	fails => lua('run.error("NO_LUCK", "bad day")'),
	makes => lua('return {id = run.artifact{name = "x", data = ("x"):rep(20000)}}'),
);
my $s = Http->new(templates => \%templates, tokens => {ada => 'a' x 20, bob => 'b' x 20, eve => 'e' x 20},
	config => "[limits]\nmax_concurrent_runs = 4\nmax_queued_runs = 30\nsse_keepalive_ms = 100\n" .
	    "[requestor \"eve\"]\nrate_per_second = 20\nburst = 30\n");
my $storm = Storm->new($s, $SEED);

$storm->steps($STEPS);
$storm->calm;
my @wrong = $storm->wrong;

is(scalar @wrong, 0, "$STEPS random steps: every answer is right, once, and no other's, by seed $SEED");
diag("  $_") for @wrong;
my $counts = $storm->counts;

cmp_ok($counts->{$_} // 0, '>', 0, "some of it came to $_")
    for $usual ? (qw(200 202 204 400 401 403 404 406 415 429 431 result streams modern),
		  map { "error $_" } -32602, -32010, -32020, -32022, 429) : ();

# ---- what is left ----

for my $name (qw(ada bob)) { # what goes on is asked to end
	my $c = $s->client($name)->greeted;

	for my $status (qw(queued running)) {
		$c->tool(cancel_task_run => {runId => $_->{runId}})
		    for @{$c->tool('list_task_runs', {status => $status, limit => 100})->{view}{runs}};
	}
	$c->end;
}
until_true('all runs to end', sub {
	my $n = () = $s->log_text =~ /part=daemon status=serving/g;

	$s->signal('USR1');
	until_true('the status', sub { $n < (() = $s->log_text =~ /part=daemon status=serving/g) });
	return $s->log_text =~ /.*part=daemon status=serving running=0 queued=0 [^\n]*http_sessions=0 /s;
});
my ($left) = $s->log_text =~ /.*part=daemon (status=serving [^\n]*)/s;

like($left, qr/running=0 queued=0 .*http_sessions=0 /, 'no run and no session is left');
is($s->fetch(GET => '/readyz')->{status}, 200, 'the server is ready for more');
my $peak = peak_kb($s->{pid});
cmp_ok($peak, '<', 200_000 * $ROOM, "the server held ${peak} kB at the most");
$s->stop;
done_testing;
