#!/usr/bin/perl
# SPDX-License-Identifier: Apache-2.0
# browser_hostile.t - a compromised broker of the browser: whatever the broker sends or
# leaves out, the server lives, waiting callers get an answer, and the next call works.
# fake_browser.pl misbehaves as the addresses of pages ask.
use lib 'tests/lib';
use Paddock;
use File::Copy qw(copy);

my $folder = Paddock::fresh_root();

copy("$BUILD/$_", "$folder/$_") or BAIL_OUT("$_: $!") for qw(paddockd paddock-worker);
copy('tests/system/browser/fake_browser.pl', "$folder/paddock-browser") or BAIL_OUT($!);
chmod 0755, map { "$folder/$_" } qw(paddockd paddock-worker paddock-browser);
Paddock::write_file("$folder/chromium", "#!/bin/sh\n");
chmod 0755, "$folder/chromium";
Paddock::write_file("$folder/paddock-browser.told", '');
chmod 0666, "$folder/paddock-browser.told";

my %manifest = (limits => {maxTimeoutMs => 600_000},
	tools => [qw(create_tab navigate)]);
my %templates = (
    visit => lua('local ok, got = pcall(function()
	    local t = run.call("create_tab")
	    return run.call("navigate", {tabId = t.tabId, url = inputs.url})
	end)
	if ok then return {came = type(got)} end
	return {code = type(got) == "table" and got.code or tostring(got)}', %manifest),
    hasty => lua('local t = run.call("create_tab")
	for i = 1, 10 do pcall(run.step, "s", function()
	    run.call("navigate", {tabId = t.tabId, url = "http://evil/mute"})
	end, {timeout = 30}) end', %manifest),
    echo => lua('return inputs'),
);

sub server {
	return Paddock->new(templates => \%templates, grants => ['tools=all'], build => $folder,
		config => "[browser]\nchromium = $folder/chromium\n")->greeted;
}
sub gone { my ($s) = @_; return scalar(() = $s->log_text =~ /broker=\d+ gone/g) }
sub visit {
	my ($s, $where) = @_;
	my $v = $s->run_sync(visit => {url => $where});

	return $v->{result}{code} // $v->{result}{came} // json_of($v);
}
sub works { my ($s, $what) = @_; return is(visit($s, 'http://a/'), 'table', $what) }

# Slow cases run beside the others.
my ($deaf, $mute) = (server(), server());
my $waits = $deaf->run_async(visit => {url => 'http://evil/deaf'}, timeoutMs => 1000);
my @hasty = map { $mute->run_async('hasty') } 1 .. 5;

my $s = server();
my $pid = $s->{pid};

works($s, 'there is a browser');
my $before = Paddock::rss_kb($pid);

# ---- what ends the broker ----

for (
    ['garbage', 'PAGE_CRASHED'],
    ['twice', 'table', 'an answer that comes twice'],
    ['other', 'PAGE_CRASHED', 'an answer to nothing'],
    ['early', 'PAGE_CRASHED', 'another to what was answered'],
    ['within', 'PAGE_CRASHED', 'an answer within an answer'],
    ['worker', 'PAGE_CRASHED', 'a message that is a worker\'s'],
    ['half', 'PAGE_CRASHED', 'death in half an answer'],
    ['chunks', 'PAGE_CRASHED', '100 MB that nobody asked for'],
    ['larger', 'PAGE_CRASHED', 'an answer that says it has 5 MiB'],
    ['longer', 'PAGE_CRASHED', 'an answer with 100 MB more than it said'],
    ['shut', 'PAGE_CRASHED', 'an end that is closed by one that stays']) {
	my ($how, $code, $about) = @$_;
	my $n = gone($s);

	is(visit($s, "http://evil/$how"), $code, $about // $how);
	ok(Paddock::until_true("gone of $how", sub { gone($s) == $n + 1 }),
		"the log notes the broker's end: $how");
	works($s, 'the broker after an ended one works');
}

# ---- what is no answer ----

my $n = gone($s);
my $tab = $s->tool('create_tab')->{view}{tabId};
for (
    ['nul', 'a NUL and what is behind it'],
    ['empty', 'nothing'],
    ['array', 'an array'],
    ['deep', 'what is too deep'],
    ['bytes', 'what is not UTF-8'],
    ['failing', 'a failure that says nothing'],
    ['listing', 'a failure with a list of details']) {
	my ($how, $about) = @$_;

	is(visit($s, "http://evil/$how"), 'EXECUTION_ERROR', "$about is no answer");
	refused($s->tool(navigate => {tabId => $tab, url => "http://evil/$how"}),
		'EXECUTION_ERROR', 'for a client, too');
}
is(visit($s, 'http://evil/inventing'), 'EVIL', 'a code of its own reaches the template');
refused($s->tool(navigate => {tabId => $tab, url => 'http://evil/inventing'}),
	'EXECUTION_ERROR', 'no client sees a code of the broker\'s own');
is(visit($s, 'http://evil/lying'), 'table', 'a broker may lie about a page');
is($s->tool(navigate => {tabId => $tab, url => 'http://evil/lying'})->{view}{page}, 'none',
	'to clients as well');
my $session = $s->tool('list_sessions')->{view}{sessions}[0]{sessionId};
visit($s, 'http://evil/lists');
refused($s->run(visit => {url => 'http://a/'}, sessionId => $session), 'SESSION_NOT_FOUND',
	'a broker cannot lie about the owner of a session');
is(gone($s), $n, 'none of which ends it');
works($s, 'the next call after a lie works');
cmp_ok(Paddock::rss_kb($pid) - $before, '<', 40_000 * $ROOM, 'nothing of the hostile answers stays in memory');
is($s->run_sync('echo')->{status}, 'succeeded', 'other templates run beside a hostile broker');
is($s->{pid}, $pid, 'the server is the one that it was');
$s->stop;

# ---- what takes its time ----

is($deaf->ended($waits)->{error}{errorCode}, 'RUN_TIMEOUT',
	'a run whose call is never answered ends in its time');
ok(Paddock::until_true('the deaf one is ended',
	sub { $deaf->log_text =~ /gone why="it does not answer"/ }),
	'a deaf broker is ended some seconds later');
works($deaf, 'another broker follows a deaf one');
$deaf->stop;

$mute->ended($_) for @hasty;
ok(Paddock::until_true('the mute one is ended',
	sub { $mute->log_text =~ /gone why="it does not answer"/ }),
	'one that never answers that a call is called off is ended, too');
works($mute, 'hasty calls never fill the queue of a mute broker');
$mute->stop;

done_testing;
