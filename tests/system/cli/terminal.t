#!/usr/bin/perl
# SPDX-License-Identifier: Apache-2.0
# Foreign text never controls a terminal and never begins a line: every subcommand on a
# terminal, with hostile names, keys, messages, files, logs and errors; and the daemon's
# log.
use utf8;
use Encode qw(decode encode FB_CROAK LEAVE_SRC);
use lib 'tests/lib';
use Paddock;
use Cli;

# The control sequences: colours, a title, C1, direction, tags, annotation, zero width, and
# line breaks before a word which must not begin a line.
my $ACTS = "\e[35;44m\e]0;title\a\x{9b}31m\x{90}\x{202e}\x{61c}\x{2066}\x{200f}\x{e0041}\x{fff9}\x{200b}\x{feff}\b\x{7f}";
my $evil = "evil${ACTS}\r\nFORGED\nFORGED\x{2028}FORGED\x{85}FORGED\x{b}FORGED\rFORGED end";
my $evil_line = $evil =~ s/[\r\n]//gr; # where a line break cannot be
my $cli = Cli->new;
my $sock = 0;

# The faults of TEXT, as written to a terminal.
sub wrong {
	my ($bytes, $lines) = @_;
	my $text = eval { decode('UTF-8', $bytes, FB_CROAK | LEAVE_SRC) } // return 'it is not UTF-8';

	$text =~ s/\r+\n/\n/g; # a terminal's
	return sprintf 'U+%04X', ord $1
	    if $text =~ /([\x00-\x08\x0b-\x1f\x7f-\x9f\xad\x{61c}\x{200b}\x{200e}\x{200f}\x{2028}-\x{202e}\x{2060}-\x{206f}\x{feff}\x{fff0}-\x{fffb}\x{e0000}-\x{e0fff}])/;
	return 'a line is forged' if !$lines && $text =~ /^FORGED/m;
	return '';
}

my %seen;

# The command ARGS on a terminal shows SHOWN (or anything), and nothing acts.
sub shows {
	my ($name, $args, $shown, %o) = @_;
	my $p = $cli->start($args, all_tty => 1, columns => 200, %o);

	if ($o{asks}) {
		until_true("$name: a question", sub { $p->shown =~ $o{asks} });
		$p->type("\x04");
	}
	my $r = $p->finish;

	local $Test::Builder::Level = $Test::Builder::Level + 1;
	my $bad = wrong($r->{err}, $o{lines});
	is($bad, '', "$name: nothing acts") or diag(encode('UTF-8', $r->{err} =~ s/([^\n -~])/sprintf '<%02x>', ord $1/ger));
	like($r->{err}, $shown // qr/evil/, "$name: the words are shown") or diag("status $r->{status}");
	$seen{$name =~ s/[,:].*//r}++;
	return $r;
}

# The same for a server which answers with hostile text.
sub fake_shows {
	my ($name, $args, $shown, %tools) = @_;
	my $asks = delete $tools{asks};
	my $path = "$cli->{root}/fake." . $sock++;
	my $pid = fake_server($path, %tools);
	local $Test::Builder::Level = $Test::Builder::Level + 1;
	my $r = shows($name, [@$args, '--socket', $path], $shown, asks => $asks);

	kill KILL => $pid;
	waitpid $pid, 0;
	return $r;
}

# ---- a server that says such things everywhere ----

my $run = 'run_' . 'a' x 26;
my $bytes_evil = $evil;
my %view = (runId => $run, templateId => $evil, templateVersion => $evil, status => 'failed',
    progress => {totalSteps => 2, doneSteps => 1, currentStep => $evil}, message => $evil,
    metrics => {elapsedMs => 1, cpuMs => 1}, createdAt => 1, startedAt => 1,
    artifacts => [{artifactId => "art_$evil", name => $evil, size => 3, mimeType => $evil, sha256 => $evil}],
    error => {errorCode => $evil, message => $evil, recoverHint => $evil, failedStep => $evil,
	      details => {limit => $evil, whoCanRaise => $evil, $evil => $evil, unit => $evil, used => 1, allowed => 1}},
    steps => [{name => $evil, status => 'failed', error => {code => $evil, message => $evil}}],
    isolation => {level => $evil, missing => [$evil]}, result => {$evil => [$evil]});
my %good = (%view, status => 'succeeded', error => undef);
delete $good{error};
my %template = (templateId => $evil, version => $evil, name => $evil, description => "$evil.", available => JSON::PP::false,
    unavailableReason => $evil, trustLevelSupport => [$evil], executionMode => $evil, supportsPartialSuccess => JSON::PP::false,
    limits => {$evil => 1, maxUrls => $evil},
    permissions => {asked => {tools => [$evil], read_paths => [$evil], network => [$evil]}, granted => {tools => [$evil]}, hosts => [$evil],
	missing => [{key => 'tools', asked => $evil, reason => $evil}, {key => 'network', reason => $evil}]},
    inputsSchema => {type => 'object', required => [$evil], properties => {$evil => {type => $evil, description => $evil,
	enum => [$evil, {$evil => $evil}], default => $evil, format => $evil}}}, outputsSchema => {},
    resources => [{uri => $evil, name => $evil, description => $evil}],
    prompts => [{name => $evil, description => $evil, arguments => [{name => $evil, description => $evil, required => JSON::PP::true}]}]);
my $refusal = sub { return {%view, errorCode => $evil, error => $evil, recoverHint => $evil} };
my %profile = (runtimeVersion => $evil, requestor => $evil, trustLevel => $evil,
    isolation => {level => $evil, missing => [$evil]}, programs => {available => JSON::PP::false, reason => $evil, weak => $evil},
    store => {available => JSON::PP::false, reason => $evil}, limits => {maxConcurrentRuns => 1},
    browser => {available => JSON::PP::false, reason => $evil, path => $evil, version => $evil});
my %runs = (runs => [{%view}], total => 1);
my %log = ('resources/read' => {contents => [{uri => 'x', mimeType => 'text/plain', text => "2026 info $evil_line\n"}]});

fake_shows('ps', ['ps', '-a'], qr/evil/, list_task_runs => \%runs);
fake_shows('status', ['status', $run], qr/evil/, get_task_run => \%view);
my %draft = (templateId => $evil, lines => [{key => $evil, word => $evil, text => $evil, new => JSON::PP::true}], section => "[grant \"t\"]\ntools = $evil\n$evil\n");
fake_shows('explain', ['explain', $run], qr/cannot be written here: .*evil/s, get_task_run => \%view, 'paddock/draft' => \%draft, %log);
my %proposal = (proposalId => $evil, requestor => $evil, templateId => $evil, version => $evil, digest => $evil, state => $evil, reason => $evil,
    madeAt => 1, draft => \%draft, grantsDir => $evil);
fake_shows('grant ls', ['grant', 'ls'], qr/evil/, 'paddock/proposals' => {proposals => [\%proposal]});
fake_shows('grant show', ['grant', 'show', 'x'], qr/in the requestor's words: ".*evil/, 'paddock/proposals' => {proposals => [\%proposal]});
fake_shows('grant approve', ['grant', 'approve', 'x'], qr/./, 'paddock/proposals' => {proposals => [\%proposal]});
fake_shows('grant approve in a folder', ['grant', 'approve', 'x'], qr/not the form of a grant/, 'paddock/proposals' => {proposals => [{%proposal, grantsDir => '/nowhere/grants.d'}]});
fake_shows('grant approve in a foreign folder', ['grant', 'approve', 'x'], qr/no folder grants\.d/, 'paddock/proposals' => {proposals => [{%proposal, grantsDir => '/etc/sysctl.d'}]});
shows('template learn', ['template', 'learn', encode('UTF-8', $evil)], qr/evil/);
shows('grant reject', ['grant', 'reject', encode('UTF-8', $evil), '--templates', 'none'], qr/./);
fake_shows('explain of a draft', ['explain', $run], qr/ask for it: .*evil/, 'paddock/draft' => {%draft, manifest => {$evil => [$evil]}},
	   get_task_run => {%view, lacked => {tools => [$evil], $evil => [$evil]}}, %log);
fake_shows('logs', ['logs', $run], qr/evil/, get_task_run => \%good, %log);
fake_shows('cancel', ['cancel', $run], qr/evil/,
	   cancel_task_run => {cancelRequested => JSON::PP::false, currentStatus => $evil, reason => $evil, runId => $evil});
my %kept = (deleted => 0, kept => [{runId => $evil, artifactId => $evil, errorCode => $evil, reason => $evil}]);
fake_shows('usage', ['usage'], qr/evil/, 'paddock/usage' => {rows => [{requestor => $evil, templateId => $evil, runs => 1, cpuMs => 1, bytes => 1}]});
fake_shows('reload', ['reload'], qr/evil/, 'paddock/reload' => {configuration => $evil, why => $evil, restart => [$evil], templates => 1,
	new => [{templateId => $evil, version => $evil}], refused => [{path => $evil, why => $evil}]});
fake_shows('notebook ls', ['notebook', 'ls'], qr/evil/, 'paddock/residents' => {residents => [{requestor => $evil, templateId => $evil,
	version => $evil, name => $evil, state => $evil, runs => 1, memoryBytes => 1, createdAt => $evil, lastUsedAt => $evil}]});
fake_shows('rm', ['rm', $run], qr/evil/, 'paddock/deleteRuns' => \%kept);
fake_shows('prune', ['prune', '--older', '1d'], qr/evil/, 'paddock/deleteRuns' => \%kept, 'paddock/deleteArtifacts' => \%kept);
fake_shows('artifact rm', ['artifact', 'rm', 'art_' . 'a' x 26], qr/evil/, 'paddock/deleteArtifacts' => \%kept);
fake_shows('artifact ls', ['artifact', 'ls', $run], qr/evil/, get_task_run => \%good);
fake_shows('artifact get', ['artifact', 'get', $run, 'nosuch'], qr/nosuch/, get_task_run => \%good);
fake_shows('artifact cat', ['artifact', 'cat', $run], qr/evil|art_/, get_task_run => \%good,
	   get_artifact => {artifactId => $evil, data => '', error => $evil});
fake_shows('template ls', ['template', 'ls'], qr/evil/, list_task_templates => {templates => [\%template]});
fake_shows('search', ['search', $evil], qr/evil/, search_task_templates => {templates => [{%template, description => $evil}]});
fake_shows('search --json', ['search', 'x', '--json'], qr/evil/, search_task_templates => {templates => [{%template, description => $evil}]});
fake_shows('template show', ['template', 'show', $evil], qr/evil/, list_task_templates => {templates => [\%template]});
fake_shows('doctor', ['doctor'], qr/evil/, get_runtime_profile => \%profile,
	   list_task_templates => {templates => [\%template]});
my %ready = (%template, inputsSchema => {%{$template{inputsSchema}}, required => []}); # a run asks for no input
fake_shows('run', ['run', 'x', '--templates', 'none'], qr/./, run_task_template => \%view, list_task_templates => {templates => [\%ready]});
for my $json (['ps', '-a'], ['status', $run], ['explain', $run], ['template', 'ls'], ['doctor'], ['artifact', 'ls', $run], ['rm', $run]) {
	fake_shows("--json of @$json", [@$json, '--json'], qr/evil/, list_task_runs => \%runs, get_task_run => \%view, %log,
		   list_task_templates => {templates => [\%template]}, get_runtime_profile => \%profile,
		   'paddock/deleteRuns' => \%kept, 'paddock/draft' => \%draft);
}
fake_shows('run, that fails', ['run', 'x'], qr/evil/, run_task_template => sub {
	my ($args, $send, $m) = @_;
	my $token = $m->{params}{_meta}{progressToken};

	$send->(json_of({jsonrpc => '2.0', method => 'notifications/progress', params => {
		progressToken => $token, progress => 1, total => 2, message => $evil}}) . "\n") if defined $token;
	$send->(json_of({jsonrpc => '2.0', method => 'notifications/message', params => {
		level => 'error', logger => $evil, data => $evil}}) . "\n");
	return \%view }, get_task_run => \%view, list_task_templates => {templates => [\%ready]}, %log);
fake_shows('run, that succeeds', ['run', 'x'], qr/evil/, run_task_template => \%good,
	   list_task_templates => {templates => [\%ready]}, get_task_run => \%good);
fake_shows('run, that asks', ['run', 'x'], qr/evil/, asks => qr/evil[^\n]*[:>?\]] ?\z/, list_task_templates => {templates => [\%template]});
fake_shows('retry', ['retry', $run], qr/evil/, retry_task_run => \%good, get_task_run => \%good,
	   list_task_templates => {templates => [\%template]});
fake_shows('wait', ['wait', $run], qr/evil/, get_task_run => \%view, 'resources/subscribe' => {}, %log);
fake_shows('run, in the background', ['run', 'x', '--mode', 'async'], qr/evil/,
	   run_task_template => {runId => $evil, status => 'queued', mode => 'async'},
	   list_task_templates => {templates => [\%ready]});

# ---- templates, files and arguments that are hostile ----

{
	my $t = "$cli->{root}/templates";
	my $dir = "$t/bad" . encode('UTF-8', $evil_line =~ s{/}{}gr);

	write_file("$dir/template.json", encode('UTF-8', (qq({"templateId":"x","version":"1.0.0","name":"n","description":"d",
		"runtime":{"type":"lua","entry":"main.lua"},"inputsSchema":{"type":"object"},"evil":1}))));
	write_file("$dir/main.lua", "return function() return 1 end\n");
	shows('template ls, of a broken package', ['template', 'ls', $cli->private], qr/evil/);
	shows('template check', ['template', 'check', $dir], qr/evil/);
	shows('artifact put', ['artifact', 'put', encode('UTF-8', "/nowhere/$evil")], qr/evil/);
	shows('template build', ['template', 'build', encode('UTF-8', "/nowhere/$evil")], qr/evil/);
	shows('template check, of nothing', ['template', 'check', encode('UTF-8', "/nowhere/$evil")], qr/evil/);
	Paddock::remove_tree($dir);

	my $asks = "$t/asks";
	write_file("$asks/template.json", json_of({templateId => 'asks', version => '1.0.0', name => $evil, description => $evil,
		runtime => {type => 'program', entry => 'main'}, inputsSchema => {type => 'object'}, tools => ['navigate'],
		permissions => {readPaths => ["/srv/evil\x{202e}\x{e0041}\x{61c}x"]}}));
	write_file("$asks/main", "#!/bin/sh\n");
	chmod 0755, "$asks/main";
	shows('template grant', ['template', 'grant', $asks], qr/evil|readPaths/);
	shows('template check, of what asks', ['template', 'check', $asks, $cli->private], qr/evil|readPaths/);
	Paddock::remove_tree($asks);
	my $lua = "$t/mine";
	my $words = join '', map { sprintf '\\u{%X}', ord } split //, $evil;
	write_file("$lua/template.json", json_of({templateId => 'mine', version => '1.0.0', name => $evil, description => $evil,
		runtime => {type => 'lua', entry => 'main.lua'}, inputsSchema => {type => 'object'}}));
	write_file("$lua/main.lua", <<"LUA");
return function(run, inputs)
  local evil = "$words"
  run.progress(0, 2, evil)
  run.log("error", evil)
  run.artifact{name = evil:gsub("[^%w]", ""):sub(1, 9) .. "\u{202E}\u{E0041}\u{61C}", mimeType = "text/plain", data = evil}
  print(evil)
  if inputs.fail then pcall(run.step, evil, function() error(evil) end) run.error("SOME", evil, {[evil] = evil}) end
  return {[evil] = evil, a = {[evil] = 1}}
end
LUA
	write_file("$lua/tests/" . encode('UTF-8', $evil_line =~ s{/}{}gr) . '.json',
		   json_of({inputs => {}, expect => {status => 'succeeded', result => {$evil => 1, a => {$evil => $evil}}}}));
	write_file("$lua/tests/a.json", json_of({inputs => {fail => JSON::PP::true}, expect => {status => 'failed', errorCode => $evil}}));
	shows('template test', ['template', 'test', $lua], qr/evil/);
	shows('template show, of a package', ['template', 'show', 'mine', $cli->private], qr/evil/);
	shows('run, of a hostile template', ['run', 'mine', $cli->private], qr/evil/);
	shows('run, of one that fails', ['run', 'mine', '-i', 'fail:=true', $cli->private], qr/evil/);
	my $id = ($cli->run(['ps', '-a', '--json', $cli->private])->{out} =~ /(run_[2-7a-z]{26})/)[0];
	shows("$_, of it", [split(' ', $_), $id, $cli->private], qr/evil/) for 'status', 'explain', 'logs', 'artifact ls', 'result';
	shows('artifact cat, of its artifact, whose lines are its own', ['artifact', 'cat', $id, $cli->private], qr/evil/, lines => 1);
	write_file("$cli->{here}/schema.json", json_of({type => 'object', properties => {$evil => {type => 'integer'}}}));
	write_file("$cli->{here}/doc.json", json_of({$evil => 'x'}));
	write_file("$cli->{here}/" . encode('UTF-8', $evil_line =~ s{/}{}gr) . '.json', 'nonsense');
	shows('schema', ['schema', 'schema.json', 'doc.json'], qr/evil/);
	shows('schema, of a file', ['schema', 'schema.json', encode('UTF-8', $evil_line =~ s{/}{}gr) . '.json'], qr/evil/);
	shows('template new', ['template', 'new', encode('UTF-8', $evil)], qr/name/);
	shows('client-config', ['client-config', '--client', encode('UTF-8', $evil)], qr/evil/);
	shows('token', ['token', encode('UTF-8', $evil)], qr/caller/);
	shows('notebook rm', ['notebook', 'rm', encode('UTF-8', $evil), $cli->private], qr/evil/);
	shows('repl', ['repl', encode('UTF-8', $evil), $cli->private], qr/evil/);
	shows('help', ['help', encode('UTF-8', $evil)], qr/evil/);
	shows('no such command', [encode('UTF-8', $evil)], qr/evil/);
	shows('a flag', ['ps', encode('UTF-8', "--$evil")], qr/evil/);
	shows('selftest', ['selftest', encode('UTF-8', "/nowhere/$evil")], qr/evil/);
	shows('complete', ['__complete', 'run', encode('UTF-8', $evil)], qr/^/);
}

# The list of subcommands was complete.
{
	my @all = $cli->run(['help'])->{out} =~ /^  ([a-z][a-z -]*?)  +\S/mg;
	my @missing = grep { my $c = $_; !grep { /^\Q$c\E/ } keys %seen } @all;

	cmp_ok(scalar @all, '>', 10, @all . ' subcommands');
	is("@missing", '', 'each of them was shown such words');
}

# ---- the log of the daemon ----

{
	my $dirs = "$cli->{root}/more";
	my $name = encode('UTF-8', $evil =~ s{/}{}gr);

	write_file("$dirs/$name/template.json", '{}');
	write_file("$dirs/ok/template.json", json_of({templateId => 'ok', version => '1.0.0', name => 'n', description => 'd',
		runtime => {type => 'lua', entry => 'main.lua'}, inputsSchema => {type => 'object'}}));
	write_file("$dirs/ok/main.lua", 'return function(run) run.log("error", "' .
		   join('', map { sprintf '\\u{%X}', ord } split //, $evil) . '") return 1 end');
	my $s = Paddock->new(dirs => [$dirs])->greeted;

	$s->call('notifications/x', {reason => $evil});
	$s->notify('notifications/cancelled', {requestId => 1, reason => $evil});
	$s->notify("evil$evil");
	$s->tool(get_task_run => {runId => "run_$evil"});
	is($s->run_sync('ok')->{status}, 'succeeded', 'a run that logs such words');
	$s->stop;
	my $log = $s->log_text;
	like($log, qr/evil/, 'the daemon logs them, too');
	is(wrong($log), '', '  the daemon\'s log has no sequence that acts and no forged line');
}

done_testing;
