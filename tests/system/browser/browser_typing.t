#!/usr/bin/perl
# SPDX-License-Identifier: Apache-2.0
# Typed text goes into the intended field, even if other parts of the page ask for the
# focus: a frame of another site, or the next page.
use lib 'tests/lib';
use Paddock;
use Site;

needs('Chromium');
my $THIEF = '<!DOCTYPE html><input id=i><script>const i = document.getElementById("i");
	i.addEventListener("input", () => { parent.postMessage(i.value, "*"); i.value = "" });
	setInterval(() => i.focus(), 0)</script>';
my $site = Site->new(
    '<!DOCTYPE html><title>Login</title><input id=name><input id=pass type=password><textarea id=area></textarea>' .
    '<div id=edit contenteditable>old</div><iframe id=f></iframe><p id=stolen>|</p><p id=events></p><script>
	const say = (id, text) => document.getElementById(id).textContent += text + ";";
	onmessage = e => say("stolen", e.data);
	for (const id of ["name", "pass", "area"])
		document.getElementById(id).addEventListener("input", e => say("events", id + e.isTrusted + e.target.value));
	document.getElementById("f").src = location.href.replace("127.0.0.1", "localhost").replace("/0", "/1")</script>',
    $THIEF);
my $s = Paddock->new(grants => ['tools=all', 'hosts=127.0.0.1 localhost'], templates => {
	types => lua('local t = run.call("create_tab").tabId
	    run.call("navigate", {tabId = t, url = inputs.url})
	    run.call("wait_for_stable", {tabId = t, timeoutMs = 2000})
	    for i = 1, 4 do
		run.call("type_text", {tabId = t, selector = "#pass", text = "secret"})
		run.call("type_text", {tabId = t, selector = "#name", text = "ada"})
		run.call("type_text", {tabId = t, selector = "#name", text = " l.", append = true})
		run.call("type_text", {tabId = t, selector = "#area", text = "a\nb"})
		run.call("type_text", {tabId = t, selector = "#edit", text = "new"})
	    end
	    local c = run.call("get_page_content", {tabId = t, maxLength = 20000})
	    local said = {}
	    for i, section in ipairs(c.sections) do said[i] = section.text end
	    return table.concat(said, "|")', tools => [qw(create_tab navigate wait_for_stable type_text get_page_content)],
	    inputsSchema => {type => 'object'}, limits => {maxTimeoutMs => 60000})})->greeted;
my $v = $s->run_sync(types => {url => $site->url('/page/0')});
my $said = $v->{result} // json_of($v);


my ($fields) = $said =~ /((?:[a-z]+true[^;]*;)+)/;
unlike($said, qr/\|(?:secret|ada| l\.|a b|new);/, 'no frame of another site has what was typed') or diag($said);
like($fields, qr/\A(?:passtruesecret;nametrueada;nametrueada l\.;(?:areatruea b;)+){4}\z/, 'each field has it, as if a person had typed');
$site->stop;
$s->stop;

# ---- a password that the page repeats ----

my $repeats = '<!DOCTYPE html><title>x</title><p>in</p><script>document.title = "hello " + decodeURIComponent(location)</script>';
my @pages = map { "<!DOCTYPE html><title>Login</title><form action=\"$_\"><input id=u name=user><input id=p name=pass type=password><button id=b>go</button></form>" } '/page/2', '/page/2#';
push @pages, $repeats, '<!DOCTYPE html><title>Login</title><input id=u><input id=p type=password><button id=b onclick="location = \'/page/2/\' + p.value">go</button>';
$site = Site->new(@pages);
$s = Paddock->new(dirs => ["$TOP/etc/templates"], grants => ['hosts=127.0.0.1'])->greeted;
for my $path ('/page/0', '/page/3') {
	my $v = $s->run_sync(login_keep_session => {startUrl => $site->url($path), locateMode => 'selector',
		selectors => {username => '#u', password => '#p', submit => '#b'}, credentials => {username => 'ada', password => 'geh eim&1'}});

	is($v->{status}, 'succeeded', "a page that repeats the password: $path") or diag(json_of($v));
	unlike(json_of($v), qr/geh.{1,5}eim/, "the result has no password: $path");
}
is_deeply([grep { (read_file($_) // '') =~ /geh.{1,5}eim/ } glob "$s->{state}/*"], [], "the store has no password that a page repeats");
unlike($s->log_text, qr/geh.{1,5}eim/, "the log has no password that a page repeats");
$site->stop;
$s->stop;
done_testing;
