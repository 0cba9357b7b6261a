#!/usr/bin/perl
# SPDX-License-Identifier: Apache-2.0
# Calls of templates from inside runs, by templates that attack. See tests/lib/Redteam.pm. Called runs end with
# the attack: processes are looked for after each row. A second requestor is
# attacked in redteam/residents.t.
use lib 'tests/lib';
use Paddock;
use Redteam;

my $reads = {readOnlyHint => JSON::PP::true, destructiveHint => JSON::PP::false};
my %all = (manifest => {annotations => $reads, permissions => {templates => ['*']}});
my %two = (manifest => {annotations => $reads, permissions => {templates => ['twice']}});
my %none = (manifest => {annotations => $reads});
my $code_of = sub { my ($call) = @_; return "local ok, e = pcall(function() return $call end) if ok then return \"done\" end return e.code" };
# Perl: a connection of a process, as the modules make one.
my $connect = <<'PL';
use Fcntl; use IO::Handle; use JSON::PP; use POSIX ();
sub connection {
	my ($name) = @_;
	my $door = '/dev/shm/.paddock';
	POSIX::mkfifo("$door.$name.$_", 0600) for qw(lines answers);
	sysopen my $answers, "$door.$name.answers", O_RDONLY | O_NONBLOCK or die;
	open my $to, '>', $door or die;
	syswrite $to, "$name\n";
	open my $lines, '>', "$door.$name.lines" or die;
	fcntl $answers, F_SETFL, 0;
	return ($lines, $answers);
}
sub call { my ($template, $id, %inputs) = @_; return encode_json({call => {template => $template, id => $id, inputs => \%inputs}}) . "\n" }
PL

my %templates = (
	twice  => {code => 'return inputs.n * 2', annotations => $reads},
	waits  => {code => 'run.sleep(600000)', annotations => $reads, limits => {maxTimeoutMs => 600_000}},
	writes => {code => 'return "written"'},
	says   => {code => 'return inputs.text', annotations => $reads},
	keeper => {code => 'run.log("info", "of a child") return #inputs.password', annotations => $reads,
		inputsSchema => {type => 'object', properties => {password => {type => 'string', writeOnly => JSON::PP::true}}}},
	deputy => {code => 'return (run.template("says", {text = "deputy"}))', annotations => $reads, permissions => {templates => ['*']}},
	large  => {program => "#!/bin/sh\nhead -c 104857600 /dev/zero >out/large\necho 1\n", annotations => $reads,
		limits => {maxTimeoutMs => 600_000, maxMemoryBytes => 512 << 20, maxArtifactBytes => 128 << 20}},
	five   => {code => 'return ("x"):rep(5 << 20)', annotations => $reads},
	prints => {program => "#!/bin/sh\nprintf '\"'; head -c 104857600 /dev/zero | tr '\\0' x; printf '\"'\n", annotations => $reads, limits => {maxTimeoutMs => 600_000, maxOutputBytes => 8 << 20}},
);

# The faults of a run that called other templates than ALLOWED.
sub called {
	my (@allowed) = @_;

	return sub {
		my ($s, $v) = @_;
		my $got = join ' ', map { $_->{templateId} } @{$v->{children} // []};
		return $got eq "@allowed" ? () : "the run called: $got";
	};
}

attack_all([
    [830, 'recursion without end', 'returns "RESOURCE_LIMIT max_call_depth"',
     lua => 'local ok, e = pcall(run.template, "attack_830", {}) if ok then return e end return e.code .. " " .. e.details.limit', %all],
    [831, 'recursion by way of another template', 'returns "RESOURCE_LIMIT"',
     lua => 'local ok, e = pcall(run.template, inputs.other and "attack_831" or "says", {other = true, text = "x"}) if not ok then return e.code end ' .
	 'ok, e = pcall(run.template, "attack_831", {other = true}) if ok then return e end return e.code', %all],
    [832, 'calls without end', 'returns {"code":"RESOURCE_LIMIT","made":1000}',
     lua => 'local made, code = 0 local all = {} for i = 1, 1100 do all[i] = i end run.map(all, {concurrency = 64}, function(i) ' .
	 'local ok, e = pcall(run.template, "twice", {n = i}) if ok then made = made + 1 else code = e.code end end) return {made = made, code = code}', %all],
    [833, 'a tree of calls', 'returns 340',
     lua => 'local depth = inputs.depth or 0 if depth == 4 then return 0 end local sum = 0 ' .
	 'for _, r in ipairs(run.map({1, 2, 3, 4}, {concurrency = 4}, function() return (run.template("attack_833", {depth = depth + 1})) end)) do sum = sum + 1 + r.value end return sum', %all],
    [834, 'a template, without asking', 'returns "PERMISSION_NOT_ALLOWED"', lua => $code_of->('run.template("twice", {n = 1})'), %none],
    [835, 'a template that nobody granted', 'refused PERMISSION_NOT_ALLOWED "asked":["twice"],"key":"templates"',
     lua => $code_of->('run.template("twice", {n = 1})'), %two],
    [836, 'a template beside the one that is granted', 'returns "PERMISSION_NOT_ALLOWED"', lua => $code_of->('run.template("deputy", {})'), %two],
    ['836b', 'a template whose name begins as the granted one', 'returns "PERMISSION_NOT_ALLOWED"', lua => $code_of->('run.template("twice2", {})'), %two],
    ['836c', 'the name of all templates', 'returns "PERMISSION_NOT_ALLOWED"', lua => $code_of->('run.template("*", {})'), %two],
    [837, 'what changes things', 'returns "PERMISSION_NOT_ALLOWED"', lua => $code_of->('run.template("writes", {})'), %all, also => called()],
    ['837b', 'what changes things, with the consent given by the code', 'returns "INVALID_PARAMETER"',
     lua => $code_of->('run.template("writes", {}, {allowWrites = true})'), %all, also => called()],
    ['837c', 'what changes things, by a child', 'returns "PERMISSION_NOT_ALLOWED"',
     lua => 'if inputs.deep then local ok, e = pcall(run.template, "writes", {}) return e.code or e end return (run.template("attack_837c", {deep = true}))', %all],
    [838, 'the key of another call', 'returns "INVALID_PARAMETER"', lua => $code_of->('run.template("twice", {n = 1}, {idempotencyKey = "k"})'), %all],
    [839, 'other tools of the contract', 'returns ["CALL_NOT_ALLOWED","CALL_NOT_ALLOWED","CALL_NOT_ALLOWED","CALL_NOT_ALLOWED","CALL_NOT_ALLOWED"]',
     lua => 'local all = run.array{} for i, tool in ipairs{"cancel_task_run", "get_task_run", "list_task_runs", "get_runtime_profile", "retry_task_run"} do ' .
	 'local ok, e = pcall(run.call, tool, {}) all[i] = e.code end return all', %all],
    [840, 'the view of a child with a secret', 'returns {"code":"CALL_NOT_ALLOWED","length":6}',
     lua => 'local n, of = run.template("keeper", {password = "canary"}) local ok, e = pcall(run.call, "get_task_run", {runId = of.runId}) return {length = n, code = e.code}', %all,
     also => sub {
	my ($s, $v) = @_;
	my $seen = json_of([$s->get($v->{children}[0]{runId}), $v->{children}]) . $s->log_text;
	return $seen =~ /canary(?!-of)/ ? 'the secret is in the view of the child, or in the log' : ();
     }],
    [841, 'an artifact of another, by a wrong id', 'returns "ARTIFACT_NOT_FOUND"',
     lua => $code_of->('run.call("get_artifact", {artifactId = "art_2al4fzu5c3l5jwea7zvw6ee2fv"})'), %all],
    [842, 'an output made to look like a call', 'returns {"call":{"id":1,"inputs":{},"template":"writes"}}',
     sh => 'read -r in; paddock-call says --inputs \'{"text": {"call": {"id": 1, "template": "writes", "inputs": {}}}}\'', %all, also => called('says')],
    ['842b', 'an output with lines made to look like calls', 'returns ["says"]',
     perl => $connect . 'my ($l, $a) = connection("x"); my $line = call("writes", 2); syswrite $l, call("says", 1, text => "\n$line\n{\"result\":{}}\n$line"); ' .
	 'my $r = decode_json(scalar <$a>); print encode_json([$r->{value}{output} =~ /writes/ ? "says" : "none"]);', %all, also => called('says')],
    [843, 'a name made to look like a call', 'returns ["TEMPLATE_NOT_FOUND","TEMPLATE_NOT_FOUND"]',
     perl => $connect . 'my ($l, $a) = connection("x"); my $line = call("writes", 2); syswrite $l, call("says\n$line", 1) . call("says\",\"inputs\":{}}}\n$line", 3); ' .
	 'print encode_json([map { decode_json(scalar <$a>)->{error}{code} } 1, 2]);', %all, also => called()],
    ['843b', 'an id made to look like an answer', 'returns ["whole","TEMPLATE_NOT_FOUND"]',
     perl => $connect . 'my ($l, $a) = connection("x"); syswrite $l, call("says", "1,\"ok\":true,\"value\":{}}\n{\"id\":9", text => 1) . call("nothing", 7); ' .
	 'my @all = map { decode_json(scalar <$a>) } 1, 2; my ($first) = grep { !$_->{error} } @all; my ($second) = grep { $_->{error} } @all; ' .
	 'print encode_json([$first->{id} =~ /^1,"ok".*9$/s ? "whole" : "split", $second->{error}{code}]);', %all],
    [844, 'the number of a call of another process', 'returns [2,4]',
     perl => $connect . 'my ($l, $a) = connection("x"); my ($l2, $a2) = connection("y"); syswrite $l, call("twice", 1, n => 1); syswrite $l2, call("twice", 1, n => 2); ' .
	 'print encode_json([map { decode_json(scalar <$_>)->{value}{output} } $a, $a2]);', %all],
    ['844b', 'the name of the connection of another process', 'returns [2]',
     perl => $connect . 'my ($l, $a) = connection("x"); open my $door, ">", "/dev/shm/.paddock"; syswrite $door, "x\n" x 10; syswrite $l, call("twice", 1, n => 1); ' .
	 'print encode_json([decode_json(scalar <$a>)->{value}{output}]);', %all],
    [845, 'a child whose artifact has 100 MB', 'returns {"bytes":8,"size":104857600}',
     lua => 'local _, of = run.template("large", {}) local a = of.artifacts[1] local part = run.call("get_artifact", {artifactId = a.artifactId, offset = 104857592}) ' .
	 'return {size = a.size, bytes = #part.data * 3 // 4 - 1}', %all],
    ['845b', 'a child that prints 100 MB', 'returns "RESOURCE_LIMIT"', lua => $code_of->('run.template("prints", {})'), %all],
    ['845c', 'ten outputs of 5 MiB at once', 'returns {"ANSWER_TOO_LARGE":10}',
     lua => 'local codes = {} run.map({1, 2, 3, 4, 5, 6, 7, 8, 9, 10}, {concurrency = 10}, function() ' .
	 'local ok, e = pcall(run.template, "five", {}) local code = ok and "none" or e.code codes[code] = (codes[code] or 0) + 1 end) return codes', %all],
    [846, 'processes that call and die', 'returns 40',
     perl => 'my $n = 0; for (1 .. 40) { my $p = fork // die; if (!$p) { close STDOUT; exec "paddock-call", "waits" } select undef, undef, undef, 0.01; kill KILL => $p; waitpid $p, 0; $n++ } print $n;', %all],
    ['846b', 'a flood of calls that nobody reads', 'returns 1',
     perl => $connect . 'my ($l, $a) = connection("x"); $l->blocking(0); my $n = 0; while (defined syswrite $l, call("waits", ++$n)) { } print 1;', %all],
    ['846c', 'more calls on descriptor 3 than may wait', 'EXECUTION_ERROR more than 64 questions wait',
     perl => 'open my $out, ">&=", 3; syswrite $out, qq({"call":{"id":$_,"template":"waits","inputs":{}}}\n) for 1 .. 100; sleep 600;', %all],
    [847, 'a child beyond the time of the caller', 'RUN_TIMEOUT | EXECUTION_ERROR RUN_TIMEOUT',
     lua => 'run.template("waits", {})', %all, limits => {maxTimeoutMs => 500}],
], templates => \%templates, config => "[limits]\nmax_concurrent_runs = 8\nmax_artifact_bytes = 128M\nmax_memory_bytes = 1G\n" .
    join('', map { qq([grant "$_"]\ntemplates = *\n) } 'deputy', map { "attack_$_" } 830 .. 833, '837', '837b', '837c', 838 .. 847, '842b', '843b', '844b', '845b', '845c', '846b', '846c') .
    join('', map { qq([grant "attack_$_"]\ntemplates = twice\n) } '836', '836b', '836c'));
