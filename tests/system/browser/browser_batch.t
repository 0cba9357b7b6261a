#!/usr/bin/perl
# SPDX-License-Identifier: Apache-2.0
# Many pages, many logins, a browser that is killed, and nothing left of 200
# runs. PADDOCK_SOAK=1: of 1,000.
BEGIN { $ENV{PADDOCK_PATIENCE} //= 120 } # for 100 pages
use lib 'tests/lib';
use Paddock;
use Broker;
use Pages;
use Site;
use Time::HiRes qw(time);

needs('Chromium');

my ($LOGINS, $RUNS) = $ENV{PADDOCK_SOAK} ? (100, 1000) : (50, 200);
my $site = Site->new;
my $s = Paddock->new(dirs => ["$TOP/etc/templates"], grants => ['hosts=127.0.0.1', 'leave:tools=create_tab'],
    templates => {leave => lua('run.call("create_tab", {url = inputs.url})',
			       tools => ['create_tab'])},
    config => "[limits]\nmax_concurrent_runs = 8\nmax_queued_runs = $RUNS\n" .
	"[browser]\nmax_sessions = 100\n")->greeted;

my ($runs, $since) = (0, time);
sub url { return $site->url($_[0]) }
sub begin { $runs++; return $s->ask_run(@_, mode => 'sync') }
sub took { my ($what) = @_;
	   note(sprintf '%s: %.1f s', $what, time - $since);
	   $since = time }
sub chromiums { # of our server's broker: their pids
	my ($pid) = (map { /broker=(\d+) started/ } split /\n/, $s->log_text)[-1];
	my @all = my @next = $pid // ();

	push @all, @next = map { Paddock::children_of($_) } @next while @next;
	return grep { $_ != $pid && Paddock::alive($_) } @all;
}

# ---- 100 pages ----

{
	my @live = map { url("/echo?page$_") } 1 .. 100;
	my @mixed = @live;
	@mixed[map { 4 * $_ } 0 .. 24] = map { 'http://127.0.0.1:' . ($_ % 9 + 1) . '/' } 0 .. 24;
	my ($v, $w) = map { $s->result($_)->{view} }
	    map { begin(batch_extract_pages => {urls => $_, concurrency => 5}) } \@live, \@mixed;

	my $good = grep { $_->{success} } @{$v->{result}{items}};
	cmp_ok($good, '>=', 95, "$good of 100 pages are read");
	is($w->{status}, 'partial_success', '25 dead ones of 100 are a partial success');
	my @items = @{$w->{result}{items}};
	is_deeply([map { $_ % 4 ? 1 : 0 } 0 .. 99], [map { $_->{success} ? 1 : 0 } @items],
		  'the items of the 75 good pages are successes') || diag(json_of([grep { $_->{error} } @items]));
	is(scalar(grep { $items[$_]{url} ne $mixed[$_] } 0 .. 99), 0, 'in their order');
	is(scalar(grep { $_ % 4 && $items[$_]{content}{sections}[1]{text} ne 'page' . ($_ + 1) }
		  0 .. 99), 0, 'all of them');
	took('200 pages');
}

# ---- logins ----

{
	my @asked = map { begin(login_keep_session => login($site)) } 1 .. $LOGINS;
	my $good = grep { ($s->result($_)->{view}{result}{loginState} // '') eq 'authenticated' } @asked;

	cmp_ok($good, '>=', 0.9 * $LOGINS, "$good of $LOGINS logins are good at once");
	my @kept = @{$s->tool('list_sessions')->{view}{sessions}};
	is(scalar(@kept), $good, 'each keeps its session');
	is(scalar(map { @{$_->{tabs}} } @kept), 0, 'without a tab');
	$s->tool(close_session => {sessionId => $_->{sessionId}}) for @kept;
	took("$LOGINS logins");
}

# ---- a browser that is killed ----

{
	my $id = $s->run_async(batch_extract_pages => {urls => [
	    url('/article.html'), map { url('/pending') } 1 .. 2]});
	my $other = $s->run_async(batch_extract_pages => {urls => [url('/never')]});

	Paddock::until_true('a page', sub { $s->get($id)->{progress}{doneSteps} });
	kill KILL => chromiums();
	my ($v, $w) = map { $s->ended($_) } $id, $other;
	is($w->{status}, 'failed', 'a run whose browser is killed fails');
	is($w->{error}{errorCode} // '', 'STEP_EXECUTION_FAILED', 'cleanly') || diag(json_of($w));
	like($v->{status}, qr/^(failed|partial_success|succeeded)$/, 'the other run beside a killed browser ends');
	is($s->run_sync(batch_extract_pages => {urls => [url('/article.html')]})->{status},
	   'succeeded', 'the next has a browser again');
	$runs += 3;
	took('a killed browser');
}

# ---- what is left ----

{
	my @asked = map { begin(leave => {url => url("/echo?$_")}) } $runs + 1 .. $RUNS;
	my $bad = grep { ($s->result($_)->{view}{status} // '') ne 'succeeded' } @asked;

	is($bad, 0, @asked . ' runs that leave their tab open succeed');
	is($runs, $RUNS, "of $RUNS in all");
	ok(Paddock::until_true('no session', sub {
		!@{$s->tool('list_sessions')->{view}{sessions}} }), 'no session and no tab is left');
	ok(Paddock::until_true('one renderer', sub { 2 > grep { # which Chromium has in store
		(Paddock::read_file("/proc/$_/cmdline") // '') =~ /--type=renderer/ } chromiums() }),
	   "no process of a page is left");
	my @pids = chromiums();
	ok(@pids > 0, 'the browser goes on for a while');
	$site->stop;
	$s->stop;
	ok(Paddock::until_true('Chromium', sub { !grep { Paddock::alive($_) } @pids }),
	   'Chromium ends with the server');
	took('the others');
}

done_testing;
