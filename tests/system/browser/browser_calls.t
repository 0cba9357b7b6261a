#!/usr/bin/perl
# SPDX-License-Identifier: Apache-2.0
# Calls to the browser: the allowed callers, and the results when the browser is slow, a
# call is cancelled, or the browser dies. fake_browser.pl stands in for paddock-browser.
use lib 'tests/lib';
use Paddock;
use File::Copy qw(copy);
use Http qw(sha256_hex);
use Daemon;

my @all = qw(create_tab navigate close_tab screenshot keep_session list_sessions
	     close_session nothing);
my $folder = Paddock::fresh_root();

copy("$BUILD/$_", "$folder/$_") or BAIL_OUT("$_: $!") for qw(paddockd paddock-worker);
copy('tests/system/browser/fake_browser.pl', "$folder/paddock-browser") or BAIL_OUT($!);
chmod 0755, map { "$folder/$_" } qw(paddockd paddock-worker paddock-browser);
Paddock::write_file("$folder/chromium", "#!/bin/sh\n");
chmod 0755, "$folder/chromium";

my $config = "[browser]\nchromium = $folder/chromium\n";
my $show = sub {
	my ($code, %manifest) = @_;

	return lua("local ok, got = pcall(function() $code end)
	    if ok then return {got = got} end
	    if type(got) == 'string' then return {text = got} end
	    return {code = got.code, message = got.message,
		    details = got.details}",
	    limits => {maxTimeoutMs => 600000}, tools => \@all,
	    trustLevelSupport => ['local', 'remote'], %manifest);
};
my $visit = 'local t = run.call("create_tab", inputs.tab)
    local n = run.call("navigate", {tabId = t.tabId, url = inputs.url})
    if inputs.keep then run.call("keep_session") end
    return {session = t.sessionId, url = #n.page.url, title = n.page.title}';
my %templates = (
    visit => $show->($visit),
    plain => $show->('return run.call("navigate", {})', tools => ['close_tab']),
    any => $show->('return run.call(inputs.tool, inputs.args)'),
    hasty => $show->('local t = run.call("create_tab")
	run.step("s", function()
	    run.call("navigate", {tabId = t.tabId, url = "http://wait/"})
	end, {timeout = 30})'),
    echo => lua('return inputs'),
);

sub told { return map { json_to($_) } split /\n/,
	   Paddock::read_file("$folder/paddock-browser.told") // '' }
sub told_tool { my ($tool) = @_; return grep { ($_->{tool} // '') eq $tool } told() }
sub forget_told { # anybody's to write: the server gives up root
	Paddock::write_file("$folder/paddock-browser.told", '');
	chmod 0666, "$folder/paddock-browser.told";
}
sub server {
	my (%o) = @_;
	forget_told();
	return Paddock->new(templates => \%templates, grants => ['tools=all'], build => $folder,
			     config => $config, %o)->greeted;
}
sub pid { my ($s) = @_; # the broker's
	  return (map { /broker=(\d+) started/ } split /\n/, $s->log_text)[-1] }
sub view { return $_[0]{result} // {} }

# ---- what runs may call ----

{
	my $s = server();
	is(scalar(told()), 0, 'nothing is started before it is needed');
	is($s->run_sync('echo')->{status}, 'succeeded', 'a template without pages starts no browser');
	is(scalar(told()), 0, 'at all');

	my $v = $s->run_sync(visit => {url => 'http://a/'});
	is(view($v)->{got}{title}, 'Page of http://a/', 'a template reaches a page')
	    || diag(json_of($v), $s->log_text);
	my ($nav) = told_tool('navigate');
	is($nav->{requestor}, 'uid:' . $>, 'in its requestor\'s name');
	is($nav->{trust}, 'local', 'trust');
	is($nav->{run}, $v->{runId}, 'a call to the browser names the run');
	is($nav->{session}, undef, 'a call to the browser names no session');
	cmp_ok($nav->{timeoutMs}, '>', 500_000, 'for as long as it may take');
	Paddock::until_true("told", sub { told_tool('run_ended') });
	is((told_tool('run_ended'))[0]{run}, $v->{runId}, 'the broker is told the end of a run');
	my ($start) = told();
	is_deeply([@{$start->{started}}[0, 1]], ['--chromium', "$folder/chromium"],
		  'the broker is told where Chromium is');
	is(view($s->run_sync(visit => {url => 'http://large/'}))->{got}{url}, 300_013,
	   'an answer may be large');
	is(view($s->run_sync(visit => {url => 'http://private/'}))->{code},
	   'URL_NOT_ALLOWED', 'what the broker refuses the template sees');
	is(view($s->run_sync('plain'))->{code}, 'CALL_NOT_ALLOWED',
	   'the manifest must list a tool');
	is(view($s->run_sync(any => {tool => 'nothing'}))->{code}, 'CALL_NOT_ALLOWED',
	   'a tool that does not exist is refused');
	is(view($s->run_sync(any => {tool => 'list_sessions'}))->{code},
	   'CALL_NOT_ALLOWED', 'none may list its requestor\'s sessions');

	# ---- sessions ----

	my $kept = $s->run_sync(visit => {url => 'http://a/', keep => \1});
	my $id = view($kept)->{got}{session};
	is($kept->{sessionId}, $id, 'a run that keeps its session says which it is');
	is(view($s->run_sync(visit => {url => 'http://a/', tab => {sessionId => $id}}))->{code},
	   'CALL_NOT_ALLOWED', 'another run may not use it by its id');
	$v = $s->run(visit => {url => 'http://a/'}, sessionId => $id)->{view};
	is(view($v)->{got}{session}, $id, 'a run that is given a session may use the session');
	is($v->{sessionId}, $id, 'the view of a run shows the given session');
	refused($s->run(visit => {url => 'x'}, sessionId => 'sess_' . 'a' x 26),
		'SESSION_NOT_FOUND', 'one that does not exist');
	refused($s->run(visit => {url => 'x'}, sessionId => 'sess_x'),
		'SESSION_NOT_FOUND', 'one that cannot');
	refused($s->run(visit => {url => 'x'}, sessionId =>
			view($s->run_sync(visit => {url => 'x'}))->{got}{session}),
		'SESSION_NOT_FOUND', 'one that ended with its run');
	kill STOP => pid($s);
	my $asked = $s->ask_run(visit => {url => 'http://a/'}, sessionId => $id);
	$s->call('ping');
	my @moved = ("$s->{root}/templates/visit-1.0.0", "$s->{root}/visit");
	rename $moved[0], $moved[1] or BAIL_OUT("rename: $!");
	kill HUP => $s->{pid};
	$s->log_has(qr/reload=done/);
	kill CONT => pid($s);
	refused($s->result($asked), 'TEMPLATE_NOT_FOUND', 'a template that is reloaded away while its session is looked for is not run');
	rename $moved[1], $moved[0] or BAIL_OUT("rename: $!");
	kill HUP => $s->{pid};
	$s->log_has(qr/(?:reload=done.*?){2}/s);

	# ---- what is called off ----

	$v = $s->run_async(visit => {url => 'http://wait/'});
	Paddock::until_true("told", sub { grep { $_->{run} eq $v } told_tool('navigate') });
	$s->tool(cancel_task_run => {runId => $v});
	is($s->ended($v)->{status}, 'canceled', 'a run that waits for a page can be cancelled');
	ok(Paddock::until_true("told", sub { told_tool('cancel') }),
	   'the call of a cancelled run is cancelled');
	is($s->run_sync('hasty')->{status}, 'failed', 'the call of a step that waits no longer is cancelled');
	ok(Paddock::until_true("told", sub { told_tool('cancel') == 2 }),
	   'without the run\'s end');

	# ---- death ----

	is(view($s->run_sync(visit => {url => 'http://die/'}))->{code}, 'PAGE_CRASHED',
	   'what the browser was at when it ended is PAGE_CRASHED');
	is(view($s->run_sync(visit => {url => 'http://a/'}))->{got}{title},
	   'Page of http://a/', 'the broker is started again after the death');
	$v = $s->run_async(visit => {url => 'http://wait/2'});
	Paddock::until_true("told", sub { grep { $_->{run} eq $v } told_tool('navigate') });
	kill KILL => pid($s);
	is(view($s->ended($v))->{code}, 'PAGE_CRASHED', 'however it ends');
	is(view($s->run_sync(visit => {url => 'http://nonsense/'}))->{code},
	   'PAGE_CRASHED', 'one that talks nonsense is ended');
	refused($s->run(visit => {url => 'x'}, sessionId => $id), 'SESSION_NOT_FOUND',
		'sessions of a dead broker are gone');
	is(view($s->run_sync(visit => {url => 'http://a/'}))->{got}{title},
	   'Page of http://a/', 'runs go on after a broker that talked nonsense');
	my $pid = pid($s);
	$s->stop;
	ok(!kill(0 => $pid), 'the broker ends with the server');
}
{
	my $s = server();
	$s->run_sync(visit => {url => 'http://a/'});
	my $pid = pid($s);
	$s->kill9;
	ok(Paddock::until_true("told", sub { !Paddock::alive($pid) }),
	   'the broker ends with a killed server');
}

# ---- what clients call ----

{
	my $s = server();
	my %tool = map { $_->{name} => $_ } @{$s->call('tools/list')->{result}{tools}};
	my @names = qw(create_tab navigate wait_for_stable get_page_info get_page_content
		       close_tab click type_text press_key wait find_element screenshot
		       close_session list_sessions);

	is_deeply([grep { !$tool{$_} } @names], [], 'the actions are tools');
	ok(!$tool{keep_session}, 'keep_session is no tool of clients');
	ok($tool{screenshot}{annotations}{readOnlyHint} &&
	   !$tool{click}{annotations}{readOnlyHint}, 'tools of the browser have annotations');
	is_deeply($tool{navigate}{inputSchema}{required}, ['tabId', 'url'], 'tools of the browser have schemas');
	my $tab = $s->tool('create_tab')->{view};
	is_deeply([schema_errors($tool{create_tab}{outputSchema}, $tab)], [],
		  'a client may open a tab');
	my $r = $s->tool(navigate => {tabId => $tab->{tabId}, url => 'http://a/'});
	is_deeply([schema_errors($tool{navigate}{outputSchema}, $r->{view})], [],
		  'a client may navigate');
	my ($nav) = told_tool('navigate');
	is($nav->{run}, undef, 'in no run\'s name');
	refused($s->tool(navigate => {tabId => $tab->{tabId}, url => 'http://private/'}),
		'URL_NOT_ALLOWED', 'a refusal has its code');
	is($s->tool('list_sessions')->{view}{sessions}[0]{sessionId}, $tab->{sessionId},
	   'a client\'s sessions are listed');
	is(view($s->run(visit => {url => 'http://a/'}, sessionId => $tab->{sessionId})->{view})
	   ->{got}{session}, $tab->{sessionId}, 'a client\'s session can be given to a run');
	ok($s->tool(close_session => {sessionId => $tab->{sessionId}})->{view}{success},
	   'a client\'s session can be closed');
	my $id = $s->request('tools/call', {name => 'create_tab', arguments => {}});
	$tab = $s->result($id)->{view};
	$id = $s->request('tools/call', {name => 'navigate', arguments =>
	    {tabId => $tab->{tabId}, url => 'http://wait/'}});
	Paddock::until_true("told", sub { grep { $_->{args}{url} eq 'http://wait/' }
				  told_tool('navigate') });
	$s->notify('notifications/cancelled', {requestId => $id});
	ok(Paddock::until_true("told", sub { told_tool('cancel') }),
	   'a call that is cancelled is called off');
	$s->stop;
}

# ---- others ----

{
	my %token = (alice => 'a' x 43, bob => 'b' x 43, eve => 'e' x 43, mia => 'm' x 43);
	my %keys = (eve => "templates = echo\n", mia => "templates = echo visit\n" .
		    "browser_tools = create_tab navigate\n");
	my $sections = sub { return join '', $config, map {
		"[requestor \"$_\"]\ntoken_sha256 = " . sha256_hex($token{$_}) . "\n" .
		    ($keys{$_} // '') } @_ };
	my $pages = sub { return join ' ', grep { /_tab|navigate|click|echo|visit|doze/ }
			  map { $_->{name} } @{$_[0]->call('tools/list')->{result}{tools}} };
	forget_told();
	my $s = Http->new(templates => \%templates, grants => ['tools=all'], build => $folder,
			  config => $sections->(sort keys %token));
	$s->{tokens} = \%token;
	my ($alice, $bob, $eve, $mia) = map { $s->client($_)->greeted } qw(alice bob eve mia);
	my $id = $alice->tool('create_tab')->{view}{sessionId};

	is((told_tool('create_tab'))[0]{trust}, 'remote', 'who is remote stays so');
	refused($bob->run(visit => {url => 'http://a/'}, sessionId => $id),
		'SESSION_NOT_FOUND', 'another\'s session is none of yours');
	refused($bob->tool(create_tab => {sessionId => $id}), 'SESSION_NOT_FOUND',
		'neither way');
	is(view($alice->run(visit => {url => 'http://a/'}, sessionId => $id)->{view})->{got}{session},
	   $id, 'runs of a session\'s owner may use the session');
	refused($eve->tool('create_tab'), 'CALL_NOT_ALLOWED',
		'who may use some templates alone has no browser');
	is($pages->($eve), 'echo', 'a requestor of listed templates is offered no browser tool');
	is($pages->($mia), 'create_tab navigate echo visit', 'a requestor is offered listed browser tools');
	my $tab = $mia->tool('create_tab')->{view}{tabId};
	is($mia->tool(navigate => {tabId => $tab, url => 'http://a/'})->{view}{page}{title},
	   'Page of http://a/', 'a requestor may call listed browser tools');
	my $no = $mia->tool(click => {tabId => $tab, selector => 'a'});
	refused($no, 'CALL_NOT_ALLOWED', 'others not');
	like($no->{view}{error}, qr/browser_tools in \[requestor "mia"\]/, 'the refusal names browser_tools');
	is(view($mia->run(visit => {url => 'http://a/'})->{view})->{got}{title},
	   'Page of http://a/', 'what templates call is not up to that list');
	$keys{eve} .= "browser_tools = all\n";
	$keys{bob} = "browser_tools = none\n";
	$s->write_config($sections->(sort keys %token));
	is($s->reload, 'done', 'a list changes');
	is($pages->($eve), 'create_tab navigate close_tab click echo', 'all are all');
	unlike($pages->($bob), qr/_tab/, 'none is none');
	$s->write_config($sections->('bob', 'eve'));
	is($s->reload, 'done', 'a requestor is removed');
	ok(Paddock::until_true("told", sub { grep { $_->{requestor} eq 'alice' }
				  told_tool('requestor_gone') }),
	   'sessions of a removed requestor are closed');
	$s->stop;
}

# ---- what the operator sees ----

{
	my %token = (alice => 'a' x 43, bob => 'b' x 43, eve => 'e' x 43);
	forget_told();
	my $s = Http->new(templates => \%templates, grants => ['tools=all'], build => $folder, config => $config,
			  tokens => \%token);
	my ($alice, $bob, $eve) = map { $s->client($_)->greeted } qw(alice bob eve);
	my $dump = sub {
		my ($re) = @_;
		my $at = length $s->log_text;

		$s->signal('USR1');
		return until_true("a dump like $re", sub { substr($s->log_text, $at) =~ $re });
	};
	ok($dump->(qr/part=browser status=off starts=0 /), 'USR1 tells of a browser that is off');
	is(scalar(told()), 0, 'USR1 does not start the browser');
	my $profile = sub { $_[0]->tool('get_runtime_profile')->{view}{browser} };
	same_json($profile->($alice), {available => JSON::PP::true},
		  'the profile tells nobody remote where it is');
	$alice->tool('create_tab') for 1 .. 2;
	$bob->tool('create_tab');
	ok($dump->(qr/part=browser status=running starts=1 chromium="Fake\/1" chromium_starts=2 crashes=1 sandboxed=yes sessions=3 tabs=3 calls=0 /),
	   'of one that runs');
	ok($dump->(qr/requestor=alice sessions=2 tabs=2$/m), 'USR1 tells how many sessions a requestor has');
	ok($dump->(qr/requestor=bob sessions=1 tabs=1$/m), 'all of them');
	my $told = $profile->($alice);
	is(delete($told->{cage})->{seccomp}, JSON::PP::false, 'one that tells nothing of its cage has none');
	same_json($told, {available => JSON::PP::true,
		   sandboxed => JSON::PP::true, version => 'Fake/1'},
		  'the profile tells who has a session of the browser, too');
	same_json($profile->($eve), {available => JSON::PP::true},
		  'the profile of a requestor without sessions tells nothing of the browser');
	$eve->tool('list_sessions');
	same_json($profile->($eve), {available => JSON::PP::true}, 'list_sessions does not add to the profile');
	kill KILL => pid($s);
	until_true('its end', sub { $s->log_text =~ /gone why/ });
	$alice->tool('create_tab');
	ok($dump->(qr/status=running starts=2 /), 'USR1 tells how often the browser was started');
	$s->stop;
}
{
	my $s = server();

	is($s->tool('get_runtime_profile')->{view}{browser}{path}, "$folder/chromium",
	   'local users are told where it is');
	$s->stop;
}

# ---- after a restart ----

# Two runs wait while another runs; the server is killed, and the next server has another
# trust for the requestors.
{
	my $limits = "[limits]\nmax_concurrent_runs = 1\n$config";
	my %token = (alice => 'a' x 43, bob => 'b' x 43);
	my $sections = sub { my (%trust) = @_; return join '', $limits, map {
		"[requestor \"$_\"]\ntoken_sha256 = " . sha256_hex($token{$_}) .
		    "\ntrust_level = $trust{$_}\n" } sort keys %trust };
	forget_told();
	my $s = Http->new(templates => \%templates, grants => ['tools=all'], build => $folder,
			  config => $sections->(alice => 'remote', bob => 'local'));
	$s->{tokens} = \%token;
	my ($alice, $bob) = map { $s->client($_)->greeted } qw(alice bob);
	my $first = $alice->run_async(visit => {url => 'http://wait/'});
	until_true('told', sub { told_tool('navigate') });
	my %waits = (alice => $alice->run_async(visit => {url => 'http://a/'}),
		     bob => $bob->run_async(visit => {url => 'http://b/'}));
	$s->kill9;
	forget_told();
	my $t = $s->again(templates => \%templates, grants => ['tools=all'], build => $folder,
			  config => $sections->(alice => 'local', bob => 'local'));
	$t->{tokens} = \%token;
	$alice = $t->client('alice')->greeted;
	is($alice->tool('get_runtime_profile')->{view}{trustLevel}, 'local',
	   'after a restart she is trusted more');
	is($alice->ended($waits{alice})->{status}, 'succeeded', 'what waited is run');
	is($alice->get($first)->{error}{errorCode}, 'RUN_INTERRUPTED', 'what ran is not');
	is($t->client('bob')->greeted->ended($waits{bob})->{status}, 'succeeded', 'another\'s, too');
	is_deeply({map { $_->{run} => $_->{trust} } told_tool('navigate')},
		  {$waits{alice} => 'remote', $waits{bob} => 'local'},
		  'runs after a restart are trusted as when created');
	$t->stop;
}

# ---- without ----

for (['enabled = no', qr/switched the browser off/],
     ["chromium = $folder/none", qr/is not there/]) {
	my ($line, $why) = @$_;
	my $s = server(config => "[browser]\n$line\n");
	my %t = map { $_->{templateId} => $_ }
	    @{$s->tool('list_task_templates')->{view}{templates}};

	like($t{visit}{unavailableReason}, $why, "$line: a template says what is missing");
	ok(!$t{visit}{available} && $t{echo}{available}, "$line: other templates can be run");
	refused($s->run(visit => {url => 'x'}), 'BROWSER_UNAVAILABLE', "$line: a run with the browser is refused");
	refused($s->tool('create_tab'), 'BROWSER_UNAVAILABLE', "$line: a client's tab is refused");
	like($s->tool('get_runtime_profile')->{view}{browser}{reason}, $why,
	     'the profile says so, too');
	ok(!(grep { $_->{name} eq 'navigate' } @{$s->call('tools/list')->{result}{tools}}),
	   'who is offered none');
	$s->stop;
}
{
	my $never = "$folder/never";

	copy("$folder/chromium", $never) or BAIL_OUT($!);
	chmod 0755, $never;
	my $s = server(config => "[browser]\nchromium = $never\n");

	is(view($s->run_sync(visit => {url => 'x'}))->{code}, 'BROWSER_UNAVAILABLE',
	   'a broker that ends at once is none') for 1 .. 3;
	is($s->run_sync('echo')->{status}, 'succeeded', 'all else goes on');
	$s->stop;
}

# ---- grants ----

# The template calls until refused: a grant removed during a run has no effect any more.
{
	my $grant = "[grant \"goes_on\"]\ntools = create_tab navigate\nhosts = a.example\n" .
	    "[grant \"*\"]\nhosts = *.example:443\n";
	forget_told();
	my $s = Daemon->new(build => $folder, config => "$config$grant", templates => {
		goes_on => $show->('local t = run.call("create_tab")
		    while true do run.call("navigate", {tabId = t.tabId, url = "http://a/"}) end',
		    tools => ['create_tab', 'navigate']),
		asks_more => $show->('return 1', tools => ['create_tab', 'click'])});
	(my $c = $s->client)->init;
	my $id = $c->run_async('goes_on');

	ok(Paddock::until_true('a call', sub { told_tool('navigate') > 1 }), 'a template calls what it is granted');
	is_deeply((told_tool('navigate'))[0]{hosts}, ['a.example', '*.example:443'],
		  'the granted hosts go with each call');
	$s->write_config($config . "[grant \"goes_on\"]\ntools = create_tab navigate\nhosts = b.example\n");
	is($s->reload, 'done', 'a reload with other hosts');
	ok(Paddock::until_true('a call', sub { (told_tool('navigate'))[-1]{hosts}[0] eq 'b.example' }),
	   'the hosts of the reload go with the next call');
	$s->write_config($config);
	is($s->reload, 'done', 'one without a grant');
	my $v = $c->ended($id);
	is($v->{status}, 'succeeded', 'the run goes on');
	is(view($v)->{code}, 'CALL_NOT_ALLOWED', 'a call without a grant is refused');
	like(view($v)->{message}, qr/no more granted .*by tools of its \[grant\]/, 'the refusal says that the tool is no longer granted');
	is($c->run_sync('goes_on')->{errorCode}, 'PERMISSION_NOT_ALLOWED', 'another run does not begin');
	like($c->run_sync('asks_more')->{error}, qr/the tools create_tab click, which are not granted/,
	     'all that is missing is named');
	$s->stop;
}

done_testing;
