#!/usr/bin/perl
# SPDX-License-Identifier: Apache-2.0
# browser_policy.t - the reach of pages in paddock-browser, the sessions of pages, and the
# leftovers of a dead process.
use File::Temp;

use lib 'tests/lib';
use Paddock;
use Broker;
use Site;

needs('Chromium');

my $site = Site->new;
my $broker = Broker->new(args => ['--alone', '--max-tabs-per-session', 3, '--max-tabs', 5,
	'--max-sessions', 4]);
my $me = $broker->as;
my $far = $broker->as(trust => 'remote');

# The processes below the broker, by the command lines.
sub below {
	my ($pid, $what) = @_;
	my @all;

	for my $child (children_of($pid)) {
		push @all, $child
		    if (read_file("/proc/$child/cmdline") // '') =~ $what;
		push @all, below($child, $what);
	}
	return @all;
}

subtest 'URLs that are refused' => sub {
	for my $url ('file:///etc/passwd', 'chrome://version/', 'data:text/html,hi',
		'javascript:alert(1)', 'http://169.254.169.254/', 'http://0.0.0.0/',
		'http://[::ffff:127.0.0.1]/', 'http://user@example.com/') {
		my $no = $me->refused('create_tab', {url => $url});
		is($no->{code}, 'URL_NOT_ALLOWED', "$url at local");
		ok($no->{details}{reason}, "because: $no->{details}{reason}");
	}
	my $no = $far->refused('create_tab', {url => $site->url('/article.html')});
	is($no->{code}, 'URL_NOT_ALLOWED', 'loopback at remote');
	is($broker->control('status')->{starts}, 0, 'a refused address starts no Chromium');
	is($broker->control('status')->{refusals}, 9, 'all are counted');
};

subtest 'what a name leads to' => sub {
	my ($name) = map { (split)[1] } grep { /^127\.\S+\s+(?!\S*local)[a-z]\w*\s*$/ }
	    split /\n/, read_file('/etc/hosts') // '';
	plan skip_all => 'no name of this host leads to loopback, but localhost' unless $name;
	my $no = $far->refused('create_tab', {url => "http://$name/"});
	is($no->{code}, 'URL_NOT_ALLOWED', 'to loopback, at remote');
	is($no->{details}{reason}, 'a loopback address', 'a name of loopback is refused for the address');
	my $url = $site->url('/article.html') =~ s/127\.0\.0\.1/$name/r;
	my $tab = $me->do('create_tab', {url => $url});
	is($tab->{statusCode}, 200, 'at local it may');
	$me->do('close_session', {sessionId => $tab->{sessionId}});
};

subtest 'what a page asks for' => sub {
	my $tab = $me->do('create_tab', {url => $site->url('/reach.html')})->{tabId};
	for my $what (qw(fetch redirect websocket worker file)) {
		same_json($me->do('wait', {tabId => $tab, text => "$what: stopped", timeoutMs => 5000})->{found},
			true, "$what is stopped");
	}
	my $no = $me->refused('navigate', {tabId => $tab,
		url => $site->url('/redirect?to=http://169.254.169.254/meta')});
	is($no->{code}, 'URL_NOT_ALLOWED', 'a redirect leads nowhere');
	same_json($no->{details}, {url => 'http://169.254.169.254/meta', trustLevel => 'local',
		reason => "a cloud's metadata address"}, 'the refused redirect is told with the reason');
	$no = $me->refused('navigate', {tabId => $tab, url => $site->url('/redirect?to=file:///etc/passwd')});
	isnt($no->{code}, 'none', 'a redirect to a file is refused');
	my $s = $me->do('list_sessions')->{sessions}[0];
	$me->do('close_session', {sessionId => $s->{sessionId}});
};

subtest 'whose a session is' => sub {
	my $tab = $me->do('create_tab', {url => $site->url('/cookies')});
	my ($id, $session) = @$tab{qw(tabId sessionId)};
	my %other = ('another requestor' => $broker->as(requestor => 'bob'),
		'the same at remote' => $far);
	for my $who (sort keys %other) {
		my $it = $other{$who};
		is($it->refused(@$_)->{code}, 'SESSION_NOT_FOUND', "$who: $_->[0]") for
		    ['get_page_info', {tabId => $id}], ['close_tab', {tabId => $id}],
		    ['create_tab', {sessionId => $session}],
		    ['close_session', {sessionId => $session}];
		same_json($it->do('list_sessions')->{sessions}, [], "$who sees none");
	}
	my $strange = $broker->as(run => 'run_z');
	is($strange->refused(@$_)->{code}, 'SESSION_NOT_FOUND', "a run that was not given it: $_->[0]") for
	    ['get_page_info', {tabId => $id}], ['navigate', {tabId => $id, url => $site->url('/cookies')}],
	    ['type_text', {tabId => $id, selector => 'p', text => 'x'}], ['close_tab', {tabId => $id}],
	    ['create_tab', {sessionId => $session}], ['close_session', {sessionId => $session}];
	my $run = $broker->as(run => 'run_a', session => $session);
	is($run->do('create_tab', {url => $site->url('/cookies')})->{sessionId}, $session,
		'a run that was given it is in it');
	my $text = json_of($me->do('get_page_content', {tabId => $id}));
	like($text, qr/cookie: none/, 'the first page had no cookie');
	$me->do('navigate', {tabId => $id, url => $site->url('/cookies')});
	like(json_of($me->do('get_page_content', {tabId => $id})), qr/seen=1/, 'the next one has');
	is($broker->control('run_ended', {run => 'run_a'})->{closed}, 0, 'a session given to a run stays when the run ends');
	my $alone = $broker->as(run => 'run_b');
	my $own = $alone->do('create_tab', {url => $site->url('/cookies')});
	unlike(json_of($alone->do('get_page_content', {tabId => $own->{tabId}})), qr/seen=1/,
		"a run's own session has none of its cookies");
	is($broker->as(run => 'run_c')->refused('get_page_info', {tabId => $own->{tabId}})->{code},
		'SESSION_NOT_FOUND', 'a run\'s session is hidden from another run');
	is($me->refused('get_page_info', {tabId => $own->{tabId}})->{code},
		'SESSION_NOT_FOUND', 'a run\'s session is hidden from the same requestor');
	is($alone->do('keep_session')->{sessionId}, $own->{sessionId}, 'a run may keep the own session');
	is($broker->control('run_ended', {run => 'run_b'})->{closed}, 0, 'a kept session stays when the run ends');
	is($me->do('close_tab', {tabId => $own->{tabId}})->{success}, true, "a kept session is the requestor's");
	is($broker->control('requestor_gone', {requestor => 'alice'})->{closed}, 2,
		'sessions end with the requestor');
	is($broker->control('status')->{tabs}, 0, 'no tab of a requestor that is gone stays');
};

subtest 'limits' => sub {
	my $run = $broker->as(run => 'run_l');
	$run->do('create_tab') for 1 .. 3;
	my $no = $run->refused('create_tab');
	is($no->{code}, 'QUOTA_EXCEEDED', 'tabs in a session');
	same_json($no->{details}, {limit => 'max_tabs_per_session', used => 3, allowed => 3,
		unit => 'tabs',
		whoCanRaise => 'the operator: max_tabs_per_session in [browser]'}, 'the refusal of a tab has the limit');
	$me->do('create_tab') for 1 .. 2;
	is($me->refused('create_tab')->{details}{limit}, 'max_tabs', 'tabs in all');
	is($broker->control('status')->{sessions}, 3, 'what was refused leaves no session');
	is($me->refused('navigate', {tabId => 'tab_x', url => 'http://a/'})->{code},
		'SESSION_NOT_FOUND', 'what is no id');
	$no = $me->refused('create_tab', {urll => 'http://a/'});
	same_json($no->{details}, {pointer => '/urll', keyword => 'additionalProperties',
		expected => 'url, perhaps'}, 'an unknown argument, and the nearest');
	is($me->refused('create_tab', {timeoutMs => 0})->{code}, 'INVALID_PARAMETER', 'a bound');
	is($me->refused('navigate', {url => 'http://a/'})->{details}{keyword}, 'required', 'one that is missing');
	is($me->refused('frobnicate')->{code}, 'INVALID_PARAMETER', 'no such action');
	$broker->control('run_ended', {run => 'run_l'});
	$broker->control('requestor_gone', {requestor => 'alice'});
};

subtest 'cancelling' => sub {
	my $tab = $me->do('create_tab')->{tabId};
	my $seq = $me->begin('navigate', {tabId => $tab, url => $site->url('/never')});
	$broker->control('status');
	$broker->control('cancel', {seq => $seq});
	is($broker->wait_for($seq)->{body}{code}, 'RUN_CANCELED', 'a call');
	is($me->do('navigate', {tabId => $tab, url => $site->url('/article.html')})->{statusCode}, 200,
		'the tab of a cancelled call works on');
	my $run = $broker->as(run => 'run_x');
	$seq = $run->begin('create_tab', {url => $site->url('/never')});
	ok(until_true('its tab is there', sub { $broker->control('status')->{tabs} == 2 }), 'the tab of the run is there');
	$broker->control('run_ended', {run => 'run_x'});
	is($broker->wait_for($seq)->{body}{code}, 'RUN_CANCELED', "a run's calls, with the run");
	is($broker->control('status')->{tabs}, 1, 'the tab of an ended run is gone');
	$broker->control('requestor_gone', {requestor => 'alice'});
};

subtest 'what dies' => sub {
	my $tab = $me->do('create_tab', {url => $site->url('/article.html')});
	my $seq = $me->begin('wait', {tabId => $tab->{tabId}, text => 'never there'});
	$broker->control('status');
	kill KILL => below($broker->{pid}, qr/--type=renderer/);
	is($broker->wait_for($seq)->{body}{code}, 'PAGE_CRASHED', "a page's process");
	my $next = $me->do('create_tab', {sessionId => $tab->{sessionId}, url => $site->url('/article.html')});
	is($next->{statusCode}, 200, 'the session goes on');
	$seq = $me->begin('wait', {tabId => $next->{tabId}, text => 'never there'});
	my $status = $broker->control('status');
	kill KILL => $status->{pid};
	is($broker->wait_for($seq)->{body}{code}, 'PAGE_CRASHED', 'the browser');
	is($me->refused('get_page_info', {tabId => $next->{tabId}})->{code}, 'SESSION_NOT_FOUND',
		'sessions of a killed browser are gone');
	is($me->do('create_tab', {url => $site->url('/article.html')})->{statusCode}, 200,
		'the next call has a new one');
	$status = $broker->control('status');
	same_json([@$status{qw(starts crashes sessions)}], [2, 1, 1], 'the crash of the browser is counted');
	same_json($status->{requestors}, {$me->{requestor} => {sessions => 1, tabs => 1}},
		  'the status counts sessions and tabs of each requestor');
	ok(until_true('the sandbox', sub { $broker->control('status')->{sandboxed} }),
		'pages are seen to be in Chromium\'s own sandbox');
};

subtest 'how it is caged' => sub {
	my ($chromium) = below($broker->{pid}, qr/remote-debugging-pipe/);
	my $pid = $broker->control('status')->{pid};
	for my $it ($pid, $chromium) {
		my $text = read_file("/proc/$it/status");
		my ($uid) = $text =~ /^Uid:\s+(\d+)/m;
		isnt($uid, 0, 'not root');
		like($text, qr/^CapEff:\s+0+$/m, 'no capability');
		like($text, qr/^NoNewPrivs:\s+1$/m, 'no new privileges');
	}
	for my $ns (qw(net pid mnt user ipc)) {
		isnt(readlink "/proc/$chromium/ns/$ns", readlink "/proc/self/ns/$ns", "a $ns namespace of its own");
	}
	my @routes = split /\n/, read_file("/proc/$chromium/net/route") // '';
	is(scalar @routes, 1, 'the network of Chromium has no route');
	unlike(join("\0", map { read_file("/proc/$_/cmdline") // '' } below($broker->{pid}, qr/chrom/)),
		qr/--no-sandbox/, "Chromium's own sandbox is on");
	my ($renderer) = below($broker->{pid}, qr/--type=renderer/);
	like(read_file("/proc/$renderer/status"), qr/^Seccomp:\s+2$/m, 'a renderer has a seccomp filter');
} if as_root();

subtest 'what is not caged is seen' => sub {
	my $open = File::Temp->new(DIR => '/var/tmp'); # /tmp is another in there
	my ($chromium) = grep { -x } map { ("$_/chromium-headless-shell", "$_/chromium") }
	    split(/:/, $ENV{PATH}), '/usr/bin';

	print $open "#!/bin/sh\nexec $chromium --no-sandbox \"\$\@\"\n";
	chmod 0755, $open;
	close $open;
	my $bare = Broker->new(args => ['--chromium', "$open"]);
	ok(!exists $bare->control('status')->{sandboxed}, 'while there is no page, nothing is said');
	$bare->as->do('create_tab');
	ok(until_true('its page is seen', sub { exists $bare->control('status')->{sandboxed} }),
		'a page without a sandbox');
	ok(!$bare->control('status')->{sandboxed}, 'a browser without a sandbox is not reported as sandboxed');
	$bare->stop;
};

subtest 'nothing stays behind' => sub {
	my @all = below($broker->{pid}, qr/./);
	cmp_ok(scalar @all, '>', 3, 'there are processes');
	kill KILL => $broker->{pid};
	waitpid $broker->{pid}, 0;
	ok(until_true('when the broker is killed, its tree dies', sub { !grep { alive($_) } @all }), 'when the broker is killed, its tree dies');
	my $quick = Broker->new(args => ['--idle-ms', 1, '--session-idle-ms', 1]);
	$quick->as->do('create_tab');
	ok(until_true('an idle session ends', sub { $quick->control('status')->{sessions} == 0 }), 'an idle session ends');
	ok(until_true('an idle browser ends', sub { !$quick->control('status')->{running} }), 'an idle browser ends');
	ok(until_true("no world", sub { !below($quick->{pid}, qr/remote-debugging/) }), "no process of an idle browser stays");
	is($quick->as->do('create_tab', {url => $site->url('/article.html')})->{statusCode}, 200, 'an idle browser starts again');
	@all = below($quick->{pid}, qr/./);
	is($quick->stop, 0, 'the broker ends with its supervisor');
	is((grep { alive($_) } @all), 0, 'the processes of a broker end with the broker');
};

$site->stop;
done_testing();
