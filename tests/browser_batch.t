#!/usr/bin/perl
# Many pages, many logins, a browser that is killed, and nothing left of it
# all. PADDOCK_SOAK=1: as many as a release has to do.
use strict;
use warnings;
use FindBin;
use lib "$FindBin::Bin/lib";
use Broker;
use Paddock;
use Site;
use Test::More;

plan skip_all => Broker::missing() if Broker::missing();

my ($logins, $runs) = $ENV{PADDOCK_SOAK} ? (50, 200) : (10, 20);
my $site = Site->new;
my $s = Paddock->new(dirs => ["$TOP/etc/templates"], config =>
		     "[limits]\nmax_concurrent_runs = 4\n[browser]\nmax_sessions = 100\n");
$s->init;

sub url { return $site->url($_[0]) }
sub chromiums { # of our server's broker: their pids
	my ($pid) = (map { /broker=(\d+) started/ } split /\n/, $s->log_text)[-1];
	my @all = my @next = $pid // ();

	push @all, @next = map { Paddock::children_of($_) } @next while @next;
	return grep { $_ != $pid && Paddock::alive($_) } @all;
}

# ---- 100 pages ----

{
	my @urls = map { url("/echo?page$_") } 1 .. 100;
	my $v;

	if ($ENV{PADDOCK_SOAK}) {
		$v = $s->ended($s->run_async(batch_extract_pages =>
		    {urls => \@urls, concurrency => 5}));
		my $good = grep { $_->{success} } @{$v->{result}{items}};
		cmp_ok($good, '>=', 95, "$good of 100 pages are read");
	}
	@urls[map { 4 * $_ } 0 .. 24] = map { 'http://127.0.0.1:' . ($_ % 9 + 1) . '/' } 0 .. 24;
	$v = $s->ended($s->run_async(batch_extract_pages => {urls => \@urls, concurrency => 5}));
	is($v->{status}, 'partial_success', '25 dead ones of 100 are a partial success');
	my @items = @{$v->{result}{items}};
	is_deeply([map { $_ % 4 ? 1 : 0 } 0 .. 99], [map { $_->{success} ? 1 : 0 } @items],
		  'and the other 75 are right') || diag(json_of([grep { $_->{error} } @items]));
	is(scalar(grep { $items[$_]{url} ne $urls[$_] } 0 .. 99), 0, 'in their order');
	is(scalar(grep { $_ % 4 && $items[$_]{content}{sections}[1]{text} ne 'page' . ($_ + 1) }
		  0 .. 99), 0, 'all of them');
}

# ---- logins ----

{
	my @ids = map { $s->run_async(login_keep_session => {startUrl => url('/login.html'),
		locateMode => 'semantic', credentials => {username => 'ada', password => 'secret'},
		semanticHints => {username => 'user name', password => 'password'}}) } 1 .. $logins;
	my $good = grep { $s->ended($_)->{result}{loginState} eq 'authenticated' } @ids;

	cmp_ok($good, '>=', 0.9 * $logins, "$good of $logins logins are good at once");
	$s->tool(close_session => {sessionId => $_->{sessionId}})
	    for @{$s->tool('list_sessions')->{view}{sessions}};
}

# ---- a browser that is killed ----

{
	my $id = $s->run_async(batch_extract_pages => {urls => [map { url('/pending') } 1 .. 6]});
	my $other = $s->run_async(batch_extract_pages => {urls => [url('/never')]});

	Paddock::until_true('a page', sub { $s->get($id)->{progress}{doneSteps} });
	kill KILL => chromiums();
	my ($v, $w) = map { $s->ended($_) } $id, $other;
	is($w->{status}, 'failed', 'a run whose browser is killed fails');
	is($w->{error}{errorCode} // '', 'STEP_EXECUTION_FAILED', 'cleanly') || diag(json_of($w));
	like($v->{status}, qr/^(failed|partial_success|succeeded)$/, 'and so may another');
	is($s->run_sync(batch_extract_pages => {urls => [url('/article.html')]})->{status},
	   'succeeded', 'the next has a browser again');
}

# ---- what is left ----

{
	my @ids = map { $s->run_async(batch_extract_pages => {urls => [url("/echo?$_")]}) } 1 .. $runs;
	my $bad = grep { $s->ended($_)->{status} ne 'succeeded' } @ids;

	is($bad, 0, "$runs runs succeed");
	ok(Paddock::until_true('no session', sub {
		!@{$s->tool('list_sessions')->{view}{sessions}} }), 'no session and no tab is left');
	my @pids = chromiums();
	ok(@pids > 0, 'the browser goes on for a while');
	$site->stop;
	$s->stop;
	ok(Paddock::until_true('Chromium', sub { !grep { Paddock::alive($_) } @pids }),
	   'and ends with the server');
}

done_testing;
