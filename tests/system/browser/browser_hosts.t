#!/usr/bin/perl
# SPDX-License-Identifier: Apache-2.0
# browser_hosts.t - hosts which the browser opens for a template: granted hosts, in every
# request, in the template's own session and in a given session; this machine and private
# networks only where the grant names the machine or network.

use lib 'tests/lib';
use Paddock;
use Broker;
use Site;

needs('Chromium');

my $other = Site->new;
# Request $other in every way which a page has, and print the results.
my $asks = <<"END";
<!DOCTYPE html><title>Asks</title><p id="out"></p><img id="i"><script>
const tell = (what, how) => {
	const p = document.createElement('p');
	p.textContent = what + ': ' + how;
	document.getElementById('out').after(p);
};
const at = '@{[$other->url('')]}';
const no_cors = {mode: 'no-cors'};
const tried = (what, p) => p.then(() => tell(what, 'got through'), () => tell(what, 'stopped'));
tried('fetch', fetch(at + '/api/fetch', no_cors));
tried('redirect', fetch('/redirect?to=' + encodeURIComponent(at + '/api/redirect'), no_cors));
const w = new WebSocket(at.replace('http', 'ws') + '/ws');
w.onopen = () => tell('websocket', 'got through');
w.onerror = () => tell('websocket', 'stopped');
new Worker(URL.createObjectURL(new Blob([`fetch('\${at}/api/worker', {mode: 'no-cors'})
	.then(() => postMessage('got through'), () => postMessage('stopped'))`])))
	.onmessage = e => tell('worker', e.data);
const i = document.getElementById('i');
i.onload = () => tell('image', 'got through');
i.onerror = () => tell('image', 'stopped');
i.src = at + '/pixel.png';
</script>
END
my $goes = '<!DOCTYPE html><title>Goes</title><a id="a" href="' . $other->url('/article.html') . '">there</a>' .
    '<form action="' . $other->url('/echo') . '"><button id="b">send</button></form>';
my $late = '<!DOCTYPE html><title>Late</title><p id="out">waiting</p><script>setInterval(() => {
	fetch("' . $other->url('/api/late') . '", {mode: "no-cors"}).then(() => {
		document.getElementById("out").textContent = "got out" }, () => {
		document.getElementById("out").textContent = "held" }) }, 50)</script>';
my $site = Site->new($asks, $goes, $late);
my ($here, $there) = map { "127.0.0.1:$_->{port}" } $site, $other;
my $broker = Broker->new(args => ['--max-tabs-per-session', 20, '--max-tabs', 40]);
my $me = $broker->as;
my $n = 0;

sub run_of { my (@hosts) = @_; return $broker->as(run => 'run_' . ++$n, hosts => [@hosts]) }
sub over { my ($run) = @_; return $broker->control('run_ended', {run => $run->{run}}) }

sub is_held {
	my ($who, $tab, $what, $how) = @_;

	local $Test::Builder::Level = $Test::Builder::Level + 1;
	for my $way (qw(fetch redirect websocket worker image)) {
		# no server answers a websocket here, so the request is stopped in any case
		my $state = $way eq 'websocket' ? 'stopped' : $how;
		ok($who->do('wait', {tabId => $tab, text => "$way: $state", timeoutMs => 20000})->{found},
			"$what: $way is $state");
	}
}

subtest 'its own session' => sub {
	my $run = run_of($here);
	my $tab = $run->do('create_tab', {url => $site->url('/page/0')})->{tabId};
	is_held($run, $tab, 'what its page asks of another host', 'stopped');
	my $elsewhere = $other->url('/article.html');
	for my $url ($elsewhere, $site->url('/redirect?to=' . $other->url('/article.html'))) {
		my $no = $run->refused('navigate', {tabId => $tab, url => $url});
		is($no->{code}, 'URL_NOT_ALLOWED', "$url is not opened");
		like($no->{message}, qr/^\Q$elsewhere\E is not opened: a host that is not granted to the template; the operator can grant it, by hosts = 127\.0\.0\.1 in its \[grant\]/, 'the refusal says which grant would help');
		same_json([@{$no->{details}}{qw(key reason)}], ['hosts', 'a host that is not granted to the template'], 'the details say which grant would help');
	}
	is($run->refused('create_tab', {url => $other->url('/article.html')})->{code}, 'URL_NOT_ALLOWED', 'a tab on a host that is not granted is refused');
	for my $what (qw(a b)) { # a link, and a form
		is($run->do('navigate', {tabId => $tab, url => $site->url('/page/1')})->{statusCode}, 200, 'a granted host is opened');
		$run->do('click', {tabId => $tab, selector => "#$what"});
		is($run->refused('wait', {tabId => $tab, text => 'Echo', timeoutMs => 1000})->{result}{found}, false,
			"a click on #$what leads nowhere else");
	}
	over($run);
};

subtest 'named and not' => sub {
	my %opens = ( # hosts, and whether 127.0.0.1 is opened
		'*' => 0, '127.0.0.1' => 1, '*:80 127.0.0.0/8' => 1, $here => 1, $there => 0, '127.0.0.2' => 0,
		'localhost' => 0, '*.0.0.1 *' => undef, '10.0.0.0/8' => 0, '' => 0, '[::1] *' => 0);
	for my $hosts (sort keys %opens) {
		my $run = run_of(split / /, $hosts);
		my $r = $run->refused('create_tab', {url => $site->url('/article.html')});
		is($r->{code}, !defined $opens{$hosts} ? 'INVALID_PARAMETER' : $opens{$hosts} ? 'none' : 'URL_NOT_ALLOWED',
			"hosts = $hosts") || diag(json_of($r));
		over($run);
	}
	my $local = $site->url('/article.html');
	$local =~ s/127\.0\.0\.1/localhost/;
	my %names = ('*' => 0, '127.0.0.1' => 0, 'localhost' => 1, '* 127.0.0.1 [::1]' => 1, '*.localhost' => 0);
	for my $hosts (sort keys %names) {
		my $run = run_of(split / /, $hosts);
		my $r = $run->refused('create_tab', {url => $local});
		is($r->{code}, $names{$hosts} ? 'none' : 'URL_NOT_ALLOWED', "localhost by hosts = $hosts") || diag(json_of($r));
		over($run);
	}
	my $run = $broker->as(run => 'run_r', trust => 'remote', hosts => ['127.0.0.1', '*']);
	is($run->refused('create_tab', {url => $site->url('/article.html')})->{code}, 'URL_NOT_ALLOWED',
		'at remote no grant opens loopback');
	my $bare = $broker->as(run => 'run_bare', hosts => undef);
	is($bare->refused('create_tab', {url => $site->url('/article.html')})->{code}, 'URL_NOT_ALLOWED', 'a run without hosts opens nothing');
	ok($bare->do('create_tab')->{tabId}, 'a run without hosts may have an empty tab');
	over($_) for $run, $bare;
	is($me->refused('create_tab', {url => $site->url('/article.html')})->{code}, 'none', 'a client needs no grant');
	$broker->control('requestor_gone', {requestor => 'alice'});
	for my $wrong ('x', {}, [1], ['a b'], [('a') x 257], ['http://a/'], ["a\0"]) {
		my $r = $broker->as(run => 'run_w', hosts => $wrong)->refused('create_tab');
		is($r->{code}, 'INVALID_PARAMETER', 'hosts that are none: ' . substr json_of($wrong), 0, 20);
	}
};

# "Any host" means any public host: requests within a granted page to other hosts are
# stopped, in any spelling, and in every way which a page has.
subtest 'any host' => sub {
	my $run = run_of('*', $here);
	my $tab = $run->do('create_tab', {url => $site->url('/page/0')})->{tabId};
	is_held($run, $tab, 'what its page asks of this machine', 'stopped');
	for my $to ($other->url('/article.html'), "http://localhost:$other->{port}/article.html",
		    "http://[::1]:$other->{port}/", "http://2130706433:$other->{port}/article.html",
		    "http://0x7f.1:$other->{port}/article.html", "http://127.1:$other->{port}/article.html",
		    'http://10.0.0.1/', 'http://192.168.0.1/', 'http://[fd00::1]/', 'http://100.64.0.1/') {
		my $no = $run->refused('navigate', {tabId => $tab, url => $to});
		is($no->{code}, 'URL_NOT_ALLOWED', $to) || diag(json_of($no));
		$no = $run->refused('navigate', {tabId => $tab, url => $site->url("/redirect?to=$to")});
		is($no->{code}, 'URL_NOT_ALLOWED', "a redirect to $to is refused") || diag(json_of($no));
	}
	is($run->do('navigate', {tabId => $tab, url => $site->url('/article.html')})->{statusCode}, 200, 'what is named goes on');
	over($run);
};

subtest 'a session that it keeps' => sub {
	my $run = run_of($here);
	my $tab = $run->do('create_tab', {url => $site->url('/page/2')})->{tabId};
	$run->do('keep_session');
	over($run);
	ok($me->do('wait', {tabId => $tab, text => 'held', timeoutMs => 20000})->{found}, 'the page of a kept session stays where it was held');
	is($me->refused('navigate', {tabId => $tab, url => $other->url('/article.html')})->{code}, 'URL_NOT_ALLOWED',
		'whoever uses it later');
	is($me->refused('navigate', {tabId => $tab, url => $site->url('/article.html')})->{code}, 'none', 'within its hosts');
	$broker->control('requestor_gone', {requestor => 'alice'});
};

subtest 'a session that it is given' => sub {
	my $mine = $me->do('create_tab', {url => $other->url('/article.html')});
	my $session = $mine->{sessionId};
	my $run = $broker->as(run => 'run_guest', session => $session, hosts => [$here]);
	my $tab = $run->do('create_tab', {url => $site->url('/article.html')})->{tabId};
	ok($tab, 'a run opens the granted hosts in the caller\'s session');
	is($run->refused('navigate', {tabId => $tab, url => $other->url('/article.html')})->{code}, 'URL_NOT_ALLOWED',
		'a run does not navigate to the caller\'s host');
	is($run->refused('navigate', {tabId => $mine->{tabId}, url => $other->url('/cookies')})->{code}, 'URL_NOT_ALLOWED',
		"not in its caller's tab either");
	is($me->do('navigate', {tabId => $mine->{tabId}, url => $other->url('/cookies')})->{statusCode}, 200,
		"the caller's pages go on beside the run");
	my $third = Site->new;
	is($me->do('navigate', {tabId => $mine->{tabId}, url => $third->url('/article.html')})->{statusCode}, 200,
		'the caller navigates to any host beside the run');
	my $fourth = Site->new;
	my $no = $me->refused('navigate', {tabId => $mine->{tabId},
		url => $third->url('/redirect?to=' . $fourth->url('/article.html'))});
	is($no->{code}, 'URL_NOT_ALLOWED', 'what its pages ask for beyond that is held while the run goes on');
	over($run);
	is($me->refused('navigate', {tabId => $mine->{tabId},
		url => $third->url('/redirect?to=' . $fourth->url('/article.html'))})->{code}, 'URL_NOT_ALLOWED',
		'the caller\'s redirects are held while a tab of the run is there');
	$me->do('close_tab', {tabId => $tab});
	is($me->refused('navigate', {tabId => $mine->{tabId},
		url => $third->url('/redirect?to=' . $fourth->url('/article.html'))})->{code}, 'none', 'the caller\'s redirects pass when the run\'s tab is closed');
	$_->stop for $third, $fourth;
	$broker->control('requestor_gone', {requestor => 'alice'});
};

subtest "a page that it leaves in its caller's session" => sub {
	my $mine = $me->do('create_tab', {url => $site->url('/article.html')});
	my $run = $broker->as(run => 'run_leaves', session => $mine->{sessionId}, hosts => [$here]);
	$run->do('navigate', {tabId => $mine->{tabId}, url => $site->url('/page/2')});
	over($run);
	ok($me->do('wait', {tabId => $mine->{tabId}, text => 'held', timeoutMs => 20000})->{found},
		'reaches after its end what it reached before, and no more');
	is($me->do('navigate', {tabId => $mine->{tabId}, url => $site->url('/page/2#x')})->{statusCode}, 200, 'a step within it');
	ok($me->do('wait', {tabId => $mine->{tabId}, text => 'held', timeoutMs => 20000})->{found}, 'changes nothing');
	$me->do('navigate', {tabId => $mine->{tabId}, url => $site->url('/page/2?again')});
	ok($me->do('wait', {tabId => $mine->{tabId}, text => 'got out', timeoutMs => 20000})->{found},
		'the caller\'s page gets out when the caller loads another');
	$broker->control('requestor_gone', {requestor => 'alice'});
};

subtest 'a run that only reads' => sub {
	my $mine = $me->do('create_tab', {url => $site->url('/article.html')});
	my $run = $broker->as(run => 'run_reads', session => $mine->{sessionId}, hosts => [$here]);
	$run->do('get_page_info', {tabId => $mine->{tabId}});
	is($me->refused('navigate', {tabId => $mine->{tabId}, url => $site->url('/redirect?to=' . $other->url('/echo'))})->{code},
		'URL_NOT_ALLOWED', 'a run that only reads holds the caller\'s redirects');
	over($run);
	is($me->refused('navigate', {tabId => $mine->{tabId}, url => $site->url('/redirect?to=' . $other->url('/echo'))})->{code},
		'none', 'the caller\'s redirects pass when the run has ended');
	$broker->control('requestor_gone', {requestor => 'alice'});
};

subtest 'two runs in one session' => sub {
	my $mine = $me->do('create_tab', {url => $site->url('/article.html')});
	my ($a, $b) = map { $broker->as(run => "run_$_->[0]", session => $mine->{sessionId}, hosts => [@$_[1 .. $#$_]]) }
	    [a => $here], [b => $here, $there];
	my $tab = $a->do('create_tab', {url => $site->url('/page/0')})->{tabId};
	is_held($a, $tab, 'before the other comes', 'stopped');
	$b->do('get_page_info', {tabId => $mine->{tabId}});
	$a->do('navigate', {tabId => $tab, url => $site->url('/page/0?again')});
	is_held($a, $tab, 'one gains nothing by what the other is granted', 'stopped');
	over($a);
	$b->do('close_tab', {tabId => $tab});
	$tab = $b->do('create_tab', {url => $site->url('/page/0')})->{tabId};
	is_held($b, $tab, 'the other has its own once that is gone', 'got through');
	over($b);
	$broker->control('requestor_gone', {requestor => 'alice'});
};

is($broker->control('status')->{sessions}, 0, 'no session is left');
is($broker->stop, 0, 'the broker ends');
$_->stop for $site, $other;
done_testing;
