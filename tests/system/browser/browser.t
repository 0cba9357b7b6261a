#!/usr/bin/perl
# SPDX-License-Identifier: Apache-2.0
# browser.t - paddock-browser's actions, in real Chromium, on pages that are
# right and pages that are not.
use utf8;

use lib 'tests/lib';
use Paddock;
use Broker;
use Site;

needs('Chromium');
binmode Test::More->builder->$_, ':utf8' for qw(output failure_output);

my $site = Site->new;
my $broker = Broker->new;
my $me = $broker->as;

my $tab = $me->do('create_tab')->{tabId};
like($tab, qr/^tab_[2-7a-z]{26}$/, 'a tab has an id');

sub go {
	my ($path, %more) = @_;
	return $me->do('navigate', {tabId => $tab, url => $site->url($path), %more});
}

sub sections { return map { $_->{text} } @{$me->do('get_page_content', {tabId => $tab})->{sections}} }

sub element {
	my ($query) = @_;
	return $me->do('find_element', {tabId => $tab, query => $query})->{elements}[0];
}

subtest 'an article' => sub {
	my $at = go('/article.html');
	same_json($at, {success => true, partial => false, statusCode => 200,
		page => {url => $site->url('/article.html'),
			title => 'How rivers meander'}}, 'navigate tells where it is');
	my $stable = $me->do('wait_for_stable', {tabId => $tab, quietMs => 100});
	same_json($stable, {stable => true, domStable => true,
		networkPending => 0, loadState => 'complete'}, 'an article is stable');
	my $c = $me->do('get_page_content', {tabId => $tab});
	same_json([map { [$_->{tag}, $_->{heading}] } @{$c->{sections}}],
		[['h1', undef], ['p', 'How rivers meander'], ['h2', undef],
		 ['p', 'Erosion'], ['h2', undef], ['p', 'Deposit'],
		 ['li', 'Deposit'], ['li', 'Deposit']], 'sections follow their headings');
	is($c->{metadata}{author}, 'A. Geographer', 'metadata');
	is($c->{metadata}{language}, 'en', 'metadata has the language');
	is($c->{links}[0]{href}, $site->url('/form.html'), 'links are whole');
	is($c->{images}[0]{alt}, 'A bend of a river', 'images have their words');
	$c = $me->do('get_page_content', {tabId => $tab, maxLength => 30});
	my $n = 0;
	$n += length $_->{text} for @{$c->{sections}};
	is($n, 30, 'maxLength bounds all text');
	ok($c->{truncated}, 'a bounded content says that text was cut');
	is($me->do('get_page_info', {tabId => $tab})->{page}{type}, 'article', 'the type of an article');
};

subtest 'status codes' => sub {
	for my $code (404, 500) {
		my $at = go("/status/$code");
		same_json([@$at{qw(success statusCode)}], [false, $code],
			"$code is no success");
	}
	my $at = go('/empty404');
	same_json([@$at{qw(success statusCode)}], [false, 404], 'a 404 without a body is no success');
	$at = go('/redirect?to=/article.html');
	same_json([@{$at}{qw(success statusCode)}, $at->{page}{url}],
		[true, 200, $site->url('/article.html')], 'a redirect ends where it leads');
	my $open = $me->do('create_tab', {url => $site->url('/status/404')});
	is($open->{statusCode}, 404, 'create_tab tells the status, too');
	$me->do('close_tab', {tabId => $open->{tabId}});
};

subtest 'pages that do not come' => sub {
	my $no = $me->refused('navigate', {tabId => $tab, url => $site->url('/never'), timeoutMs => 300});
	is($no->{code}, 'NAVIGATION_TIMEOUT', 'a page that never answers');
	my $at = go('/half', timeoutMs => 3000);
	same_json([@$at{qw(success partial statusCode)}], [false, true, 200],
		'one that comes in half is partial');
	my $s = $me->do('wait_for_stable', {tabId => $tab, timeoutMs => 300});
	same_json($s->{stable}, false, 'a page that comes in half is never stable');
	go('/pending');
	$s = $me->do('wait_for_stable', {tabId => $tab, timeoutMs => 900, quietMs => 100});
	same_json([@$s{qw(stable networkPending)}], [false, 1], 'a request under way counts');
	$no = $me->refused('navigate', {tabId => $tab, url => 'http://127.0.0.1:1079/'});
	is($no->{code}, 'EXECUTION_ERROR', 'nobody listens');
	like($no->{details}{netError}, qr/^net::ERR_/, 'the failure has the network\'s error');
	my $before = $broker->control('status')->{tabs};
	for (1 .. 25) {
		$me->refused('create_tab', {url => 'http://127.0.0.1:1079/'});
	}
	is($broker->control('status')->{tabs}, $before, '25 dead pages leave no tab');
	is(go('/article.html')->{statusCode}, 200, 'the tab works on');
};

subtest 'a form' => sub {
	go('/form.html');
	my $info = $me->do('get_page_info', {tabId => $tab});
	same_json([map { [$_->{type}, $_->{label}] } @{$info->{elements}}],
		[['textbox', 'Name'], ['textbox', 'Notes'], ['combobox', 'Size'],
		 ['checkbox', 'As a gift'], ['button', 'Send the order']],
		'the elements of a form: none hidden, each with a label');
	is($me->do('get_page_info', {tabId => $tab, visibleOnly => false})->{totalElements}, 6,
		'the unseen one when asked for');
	my %by = map { $_->{label} => $_->{id} } @{$info->{elements}};
	$me->do('type_text', {tabId => $tab, element => $by{Name}, text => 'Ada'});
	$me->do('type_text', {tabId => $tab, element => $by{Notes}, text => "one"});
	$me->do('type_text', {tabId => $tab, element => $by{Notes}, text => " two", append => true});
	$me->do('click', {tabId => $tab, element => $by{'As a gift'}});
	$me->do('click', {tabId => $tab, selector => 'form > button'});
	my $w = $me->do('wait', {tabId => $tab, urlContains => '/echo', text => 'name='});
	like($w->{page}{url}, qr{/echo\?name=Ada&notes=one\+two&size=small&hidden=1|/echo\?name=Ada&notes=one\+two&size=small&gift=on&hidden=1},
		'typing replaces, append appends, a click is a click');
	like($w->{page}{url}, qr/gift=on/, 'the box was ticked');
	my $no = $me->refused('click', {tabId => $tab, element => $by{Name}});
	is($no->{code}, 'ELEMENT_NOT_FOUND', 'an id is of its own document alone');
	go('/form.html');
	is($me->refused('type_text', {tabId => $tab, selector => 'h1', text => 'x'})->{code},
		'ELEMENT_NOT_FOUND', 'a heading takes no text');
	is($me->refused('click', {tabId => $tab, selector => '#none'})->{code},
		'ELEMENT_NOT_FOUND', 'what is not there');
	is($me->refused('click', {tabId => $tab, selector => 'a['})->{code},
		'INVALID_PARAMETER', 'what is no selector');
};

subtest 'logging in' => sub {
	is($me->refused('navigate', {tabId => $tab, url => $site->url('/account')})->{result}{statusCode},
		403, 'first there is no way in');
	go('/login.html');
	my $info = $me->do('get_page_info', {tabId => $tab});
	is($info->{page}{type}, 'login', 'a login page is known as one');
	is((grep { $_->{type} eq 'password' } @{$info->{elements}}), 1, 'a login page has the password field');
	$me->do('type_text', {tabId => $tab, element => element('user name')->{id}, text => 'ada'});
	$me->do('type_text', {tabId => $tab, element => element('password')->{id}, text => 'secret'});
	unlike(json_of($me->do('get_page_info', {tabId => $tab})), qr/secret/, 'a password is not told');
	$me->do('press_key', {tabId => $tab, key => 'Enter'});
	same_json($me->do('wait', {tabId => $tab, text => 'Welcome, ada'})->{found}, true, 'the form logs in');
	is(go('/account')->{statusCode}, 200, 'the session has the cookie');
	my $other = $broker->as->do('create_tab', {url => $site->url('/account')});
	is($other->{statusCode}, 403, 'another session of the same requestor has not');
	$me->do('close_session', {sessionId => $other->{sessionId}});
};

subtest 'what changed, but shows nowhere' => sub {
	my $look = sub { return $me->do('get_page_info', {tabId => $tab, cookies => true}) };
	go('/status/404');
	my $before = $look->();
	is($before->{statusCode}, 404, 'the status of the document that is there');
	is($me->do('get_page_info', {tabId => $tab})->{cookieChanges}, undef, 'cookies when asked alone');
	$me->refused('navigate', {tabId => $tab, url => $site->url('/nothing')});
	is($look->()->{statusCode}, undef, 'after another that did not come, the status is not known');
	is($look->()->{cookieChanges}, $before->{cookieChanges}, 'the same cookies');
	my $other = $broker->as->do('create_tab', {url => $site->url('/cookies')});
	is($look->()->{cookieChanges}, $before->{cookieChanges}, "another session's are not seen");
	$me->do('close_session', {sessionId => $other->{sessionId}});
	go('/cookies');
	my $after = $look->();
	is($after->{cookieChanges}, $before->{cookieChanges} + 1, 'one more');
	is($after->{statusCode}, 200, 'a second cookie comes with another document');
	go('/cookies');
	is($look->()->{cookieChanges}, $after->{cookieChanges}, 'one that is set again as it was');
	unlike(json_of($after), qr/seen/, 'what they are is not told');
};

subtest 'navigation within a document' => sub {
	go('/spa.html');
	$me->do('click', {tabId => $tab, selector => '#hash'});
	my $s = $me->do('wait_for_stable', {tabId => $tab, quietMs => 100});
	same_json($s->{stable}, true, 'stable after a hash');
	is((sections())[0], 'Hash #two', 'the hash changed the page');
	my $at = go('/spa.html#four');
	same_json([@$at{qw(success statusCode)}], [true, 200], 'to navigate to a hash goes well');
	$me->do('click', {tabId => $tab, selector => '#push'});
	$s = $me->do('wait_for_stable', {tabId => $tab, quietMs => 100});
	same_json($s->{stable}, true, 'stable after pushState');
	is((sections())[0], 'View three', 'the page shows what pushState fetched');
	is($me->do('get_page_info', {tabId => $tab})->{page}{url}, $site->url('/spa/three'), 'under its address');
};

subtest 'dialogs, popups, downloads' => sub {
	is(go('/dialog.html')->{statusCode}, 200, 'dialogs hold nothing up');
	$me->do('wait', {tabId => $tab, text => 'confirmed'});
	is((sections())[0], 'confirmed false, named null', 'dialogs are dismissed');
	is(go('/popup.html')->{statusCode}, 200, 'a page with popups loads');
	my $before = $broker->control('status');
	for my $how (qw(open empty alone blank form)) {
		my $r = $me->do('click', {tabId => $tab, selector => "#$how"});
		is(scalar @{$r->{popups}}, 1, "a popup ($how) is told of");
	}
	ok(until_true('their connections', sub { !$site->serving('/never') }),
		'none goes on in the dark');
	same_json($me->do('wait', {tabId => $tab, text => 'closed: 2'})->{found}, true,
		'a popup is closed, as the opener sees');
	my $after = $broker->control('status');
	same_json([@$after{qw(sessions tabs)}], [@$before{qw(sessions tabs)}],
		'closed popups count neither as sessions nor as tabs');
	my $open = $me->do('list_sessions')->{sessions};
	is(scalar @{$open->[0]{tabs}}, 1, 'a closed popup is no tab');
	my $no = $me->refused('navigate', {tabId => $tab, url => $site->url('/download')});
	is($no->{details}{netError}, 'net::ERR_ABORTED', 'a download does not happen');
};

subtest 'other scripts than Latin' => sub {
	is(go('/cjk.html')->{page}{title}, '河流为何蜿蜒', 'a title');
	is((sections())[1], '平原上的河流很少是笔直的。🏞️ 外岸被侵蚀，内岸沉积。', 'text');
	is(element('提交')->{type}, 'button', 'a button is found by its words');
	my $c = $me->do('get_page_content', {tabId => $tab, maxLength => 20});
	is($c->{sections}[1]{text}, substr('平原上的河流很少是笔直的。🏞️', 0, 13) . '🏞', 'a bounded text cuts no character in two');
};

subtest 'more than a page' => sub {
	go('/scroll.html');
	my $info = $me->do('get_page_content', {tabId => $tab, maxLength => 50000});
	is(scalar @{$info->{sections}}, 50, 'what is there at first');
	$me->do('press_key', {tabId => $tab, key => 'End'});
	same_json($me->do('wait', {tabId => $tab, selector => 'li:nth-child(60)'})->{found}, true,
		'scrolling brings more');
	my $shot = $me->do('screenshot', {tabId => $tab, format => 'jpeg', fullPage => true});
	is($shot->{mimeType}, 'image/jpeg', 'a screenshot');
	cmp_ok($shot->{height}, '>', 1000, 'of the whole page');
	$shot = $me->do('screenshot', {tabId => $tab});
	like($shot->{data}, qr/^iVBORw0KGgo/, 'a PNG of what is in view');
	same_json([@$shot{qw(width height)}], [1280, 800], 'of a known size');
};

subtest 'a page that does not answer' => sub {
	go('/busy.html');
	my $s = $me->do('wait_for_stable', {tabId => $tab, timeoutMs => 500, quietMs => 300});
	same_json([@$s{qw(stable domStable)}], [false, false], 'one that keeps changing');
	$me->do('click', {tabId => $tab, selector => '#hang'});
	is($me->refused('get_page_info', {tabId => $tab}, 500)->{code}, 'NAVIGATION_TIMEOUT', 'one that hangs');
	$s = $me->do('wait_for_stable', {tabId => $tab, timeoutMs => 300});
	same_json($s->{stable}, false, 'a page that hangs is not stable');
	same_json(go('/article.html')->{success}, true, 'a page that hangs can be left');
};

subtest 'many tabs at once' => sub {
	my @seq = map { $me->begin('create_tab', {url => $site->url('/article.html')}) } 1 .. 8;
	my @tabs = map { $broker->wait_for($_)->{body} } @seq;
	is((grep { $_->{statusCode} == 200 } @tabs), 8, 'eight pages, side by side');
	my %sessions = map { $_->{sessionId} => 1 } @tabs;
	is(scalar keys %sessions, 8, "a client's each in a session of its own");
	$me->do('close_session', {sessionId => $_}) for keys %sessions;
	my $run = $broker->as(run => 'run_1');
	@seq = map { $run->begin('create_tab', {url => $site->url('/article.html')}) } 1 .. 8;
	%sessions = map { $broker->wait_for($_)->{body}{sessionId} => 1 } @seq;
	is(scalar keys %sessions, 1, "a run's in one");
	is($broker->control('run_ended', {run => 'run_1'})->{closed}, 1, 'the session of a run ends with the run');
};

is($broker->stop, 0, 'the broker ends with the supervisor');
$site->stop;
done_testing();
