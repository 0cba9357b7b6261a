#!/usr/bin/perl
# SPDX-License-Identifier: Apache-2.0
# No success is reported for a failed write: with each kind of write failing in turn, the
# run's state, the answer, the command's status and its stderr name the lost part and the
# reason. Acknowledged data stay; with room again the server recovers by itself.
use lib 'tests/lib';
use Paddock;
use Cli;
use Http;

my $box = Paddock::fresh_root();
my $lib = "$box/faults.so";
my $have_lib = !$SANITIZED && # whose libraries want to be the first
    compile('lib/faults.c', $lib, '-shared', '-fPIC');

chmod 0777, $box;

# ---- templates ----

sub sh { my ($code, %m) = @_; return {program => "#!/bin/bash\n$code\n", %m} }

my $leaves = 'mkdir -p out/b; printf 12345 >out/a.txt; printf 123456789 >out/b/c.txt; echo 1';
my $says = '{"artifact":{%s"name":"a.txt","data":"12345"}}\n';
my %templates = (
    lua => lua('return run.artifact{name = "a.txt", data = "12345"}'),
    caught => lua('local ok, e = pcall(run.artifact, {name = "a.txt", data = "12345"})
	return ok and e or {code = e.code, message = e.message}'),
    step => lua('return run.step("s", function() return run.artifact{name = "a.txt", data = "12345"} end)'),
    again => lua('while not pcall(run.artifact, {name = "a.txt", data = "12345"}) do run.sleep(5) end return 1'),
    lingers => lua('pcall(run.artifact, {name = "a.txt", data = "1"}) run.progress(0, 1, "tried") while true do run.sleep(60000) end',
		   limits => {maxTimeoutMs => 600000}),
    told => sh(sprintf("printf '$says' >&3; read -r x <&4; printf %%s \"\$x\"", '"id":7,')),
    untold => sh(sprintf("printf '$says' >&3; echo 1", '')),
    out => sh($leaves),
    part => sh($leaves, supportsPartialSuccess => true),
    echo => lua('return inputs'),
    doze => lua('run.progress(0, 1, "dozing") while true do run.sleep(60000) end',
		limits => {maxTimeoutMs => 600000}),
);

# The end of each template when the artifact cannot be kept: status, missing artifact, the
# place of the code, the command's status.
my %ends = (
    lua => ['failed', 'a.txt', 'error', 1],
    caught => ['succeeded', 'a.txt', 'result', 0],
    step => ['failed', 'a.txt', 'error', 1],
    told => ['succeeded', 'a.txt', 'answer', 0],
    untold => ['failed', 'a.txt', 'error', 1],
    out => ['failed', 'a.txt b/c.txt', 'error', 1],
    part => ['partial_success', 'a.txt b/c.txt', 'none', 3],
);

# The failure in V: code and message.
my %failure = (
    error => sub { my $e = ref $_[0]{error} ? $_[0]{error} : {}; ($e->{errorCode}, $e->{message}) },
    result => sub { my $e = $_[0]{result}; ref $e ? ($e->{code}, $e->{message}) : () },
    answer => sub { my $e = (ref $_[0]{result} ? $_[0]{result}{error} : undef) // {}; ($e->{code}, $e->{message}) },
    none => sub { my $m = ($_[0]{missingArtifacts} // [])->[0] // {}; ($m->{errorCode}, $m->{message}) },
);

# ---- faults ----

# by name: the call, its errno, the path; the text for clients
my %E = (EIO => 5, EMFILE => 24, EFBIG => 27, ENOSPC => 28, EROFS => 30, EDQUOT => 122);
my %words = (EIO => 'its disk fails', EMFILE => 'it has too many files open',
	     EFBIG => 'a file of its state may not grow', ENOSPC => 'its disk is full',
	     EROFS => 'its state cannot be written', EDQUOT => 'its disk quota is used up');
my ($tmp, $kept) = ('/artifacts/tmp/', '/artifacts/run_');
my @faults = map { {name => "$_->[0] of $_->[2] gives $_->[1]", line => "$_->[0] $E{$_->[1]} $_->[2]\n",
		    says => $words{$_->[1]}} } (
    (map { ['write', $_, $tmp] } qw(ENOSPC EDQUOT EIO EROFS EFBIG)),
    (map { ['open', $_, $tmp] } qw(ENOSPC EROFS EMFILE)),
    (map { ['fsync', $_, $tmp] } qw(ENOSPC EIO)),
    (map { ['rename', $_, $kept] } qw(ENOSPC EIO EROFS)),
    (map { ['mkdir', $_, $kept] } qw(ENOSPC EDQUOT)),
    (map { ['fsync', $_, $kept] } qw(EIO)),
);

sub fault { my ($s, $line) = @_; unlink "$s->{faults}.hit"; write_file("$s->{faults}.new", $line // '');
	    rename "$s->{faults}.new", $s->{faults} or die "$s->{faults}: $!\n" }
sub met { return -s "$_[0]{faults}.hit" }

my $n = 0;

sub server {
	my ($class, %o) = @_;
	my $faults = "$box/faults." . $n++;

	write_file($faults, '');
	chmod 0666, $faults;
	my $s = $class->new(templates => {%templates}, %o,
			    env => {LD_PRELOAD => $lib, PADDOCK_FAULTS => $faults});
	$s->{faults} = $faults;
	return $s;
}

sub cage_less { return $_[0] =~ /ISOLATION_TOO_WEAK/ }

# Check that V is the end of TEMPLATE when the artifact cannot be kept, with CODE and SAYS.
sub tells_all {
	my ($v, $template, $code, $says, $name) = @_;
	my ($status, $missing, $where) = @{$ends{$template}};
	my @said = $failure{$where}->($v);
	my @list = @{$v->{missingArtifacts} // []};

	local $Test::Builder::Level = $Test::Builder::Level + 1;
	return ok(($v->{status} // '') eq $status && join(' ', map { $_->{name} } @list) eq $missing
		  && !(grep { $_->{errorCode} ne $code || $_->{message} !~ $says } @list)
		  && ($said[0] // '') eq $code && $said[1] =~ $says
		  && !@{$v->{artifacts}} && "@said" !~ m{\Q$box\E|/artifacts|log says}, $name)
	    || diag(json_of($v));
}

sub command_tells_all {
	my ($cli, $s, $template, $says, $name) = @_;
	my $r = $cli->run(['run', $template, '--socket', $s->{socket}]);
	my ($status, $missing, undef, $exit) = @{$ends{$template}};
	my $all = join '.*', map { quotemeta } split / /, $missing;

	local $Test::Builder::Level = $Test::Builder::Level + 1;
	ok($r->{status} == $exit && $r->{err} =~ $says && $r->{err} !~ /wrote/ &&
	   ($template =~ /lua|step/ ? 1 : $r->{err} =~ /$all/s), $name)
	    || diag("status $r->{status}\nstdout: $r->{out}\nstderr: $r->{err}");
}

# A template's own tool, whose output is free, has the failure in the text.
sub own_tool_tells_all {
	my ($c, $template, $says, $name) = @_;
	my ($status, $missing) = @{$ends{$template}};
	my $r = $c->tool($template);
	my $text = join "\n", map { $_->{text} // '' } @{$r->{content}};

	local $Test::Builder::Level = $Test::Builder::Level + 1;
	ok(!$r->{isError} == ($status ne 'failed') && (grep { $text =~ /^- \Q$_\E: .*$says/m } split ' ', $missing)
	   && ($text =~ /^This is a partial success\b/m) == ($status eq 'partial_success'), $name) || diag(json_of($r));
}

# ---- each kind of write of an artifact ----

sub artifacts_by {
	my ($way, $s, $c) = @_;
	my $cli = Cli->new;
	my $before = $c->run_sync('lua');

	my @which = sort keys %ends;
	if (cage_less(json_of($c->run(out => {}, mode => 'sync')))) {
		note('programs are not caged here');
		@which = grep { $templates{$_}{code} } @which;
	}
	for my $f (@faults) {
		my $re = qr/this server could not keep the artifact: \Q$f->{says}\E/;

		fault($s, $f->{line});
		tells_all($c->run_sync($_), $_, 'STORE_UNAVAILABLE', $re, "$way: $f->{name}: $_") for @which;
		own_tool_tells_all($c, $_, $re, "$way, its own tool: $f->{name}: $_") for @which;
		command_tells_all($cli, $s, $_, $re, "command: $f->{name}: $_")
		    for $s->{socket} ? @which : ();
		ok(met($s), '  the fault was met');
	}
	fault($s, "rename 28 $kept\n");
	my $tried = $c->run_async('lingers');
	$c->saying($tried, 'tried');
	is($c->run_sync(echo => {n => 1})->{status}, 'succeeded', 'what cannot be kept of one run hinders no other');
	$c->tool(cancel_task_run => {runId => $tried});
	my $id = $c->run_async('again');
	ok(until_true('the fault', sub { met($s) }), "$way: one tries again…");
	fault($s);
	my $v = $c->ended($id);
	is($v->{status}, 'succeeded', "$way: the run succeeds without a restart");
	is(scalar @{$v->{artifacts}}, 1, "$way: the run has the artifact");
	ok(!exists $v->{missingArtifacts}, "$way: no artifact of the run is missing");
	for (@which) {
		$v = $c->run_sync($_);
		ok($v->{status} eq 'succeeded' && @{$v->{artifacts}} && !exists $v->{missingArtifacts},
		   "$way: $_ goes on by itself") or diag(json_of($v));
	}
	is($c->tool(get_artifact => {artifactId => $before->{result}})->{view}{complete}, true,
	   "$way: what was kept before is there");
}

# ---- the record of runs ----

my @db_faults = map { my ($call, $errno, $where) = @$_;
    {name => "$call of $where gives $errno", line => "$call $E{$errno} /$where\n", says => $words{$errno},
     reads => $call eq 'write' && $errno ne 'EIO'} } (
    (map { ['write', $_, 'paddock.db'] } qw(ENOSPC EDQUOT EFBIG EROFS EIO)),
    (map { ['fsync', $_, 'paddock.db'] } qw(ENOSPC EIO)),
);

# Check the refusal of a run which the server cannot record.
sub unrecorded {
	my ($r, $says, $name) = @_;

	local $Test::Builder::Level = $Test::Builder::Level + 1;
	ok($r->{isError} && ($r->{view}{errorCode} // '') eq 'STORE_UNAVAILABLE'
	   && $r->{view}{error} =~ /$says/ && $r->{view}{error} !~ m{idempotency|$box|paddock\.db}i, $name)
	    || diag(json_of($r));
}

sub rows_by {
	my ($way, $s, $c) = @_;
	my $cli = Cli->new;

	for my $f (@db_faults) {
		my $re = qr/\Q$f->{says}\E/;
		my $name = "$way: $f->{name}";
		my $kept = $c->run_sync('lua');
		my $key = "key of $f->{name}";
		my $once = $c->run_sync(echo => {n => 1}, idempotencyKey => $key);
		my ($going, $last) = map { $c->run_async('doze') } 1, 2;

		my $task = $c->call('tools/call', {name => 'doze', task => {}, arguments => {}})->{result}{task}{taskId};

		$c->saying($_, 'dozing') for $going, $last, $task;
		my $result = $c->request('tasks/result', {taskId => $task});
		my $waits = $c->request('tools/call', {name => 'get_task_run', arguments => {runId => $task, waitMs => 45000}});
		fault($s, $f->{line});
		unrecorded($c->run(echo => {n => 2}, mode => 'sync'), $re, "$name: a run is refused");
		unrecorded($c->run(echo => {n => 3}, mode => 'async'), $re, "$name: a promised run is refused");
		unrecorded($c->run(echo => {n => 4}, mode => 'sync', idempotencyKey => "$key 4"), $re, "$name: a run with a key is refused");
		unrecorded($c->tool(echo => {n => 5}), $re, "$name: a template's own tool is refused");
		if ($s->{socket}) {
			my $r = $cli->run(['run', 'echo', '--socket', $s->{socket}]);

			said($r, 125, qr/$re.*code: STORE_UNAVAILABLE/s, '  the command says so');
			is($r->{out}, '', "$name: the command shows no result");
			is($s->fetch('GET', '/readyz')->{status}, 503, '  readyz says no');
			is(scalar @{$s->client->greeted->tool('list_task_templates')->{view}{templates}}, scalar keys %templates,
			   "$name: sessions begin and go on");
		}
		ok(met($s), '  the fault was met');
		kill KILL => $s->worker_pid($task);
		like(($c->answer($result) // {})->{error}{message}, qr/the task has ended, but its outcome cannot be recorded: .*$re/, '  who waits for an end hears that it cannot be recorded');
		like(json_of($c->answer($waits) // {}), qr/STORE_UNAVAILABLE.*the run ended, but its outcome cannot be recorded/, "$name: get_task_run with waitMs hears that the end cannot be recorded");
		$c->tool(cancel_task_run => {runId => $going});
		is($c->run(echo => {n => 5}, mode => 'async')->{view}{details}{retryAfterMs}, 1000, "$name: the refusal says when to try again");
		if ($f->{reads}) {
			is($c->get($going)->{status}, 'running', '  an end that is not recorded is not told');
			is($c->tool(get_artifact => {artifactId => $kept->{result}})->{view}{complete}, true,
			   '  what was kept can be read');
		} else { # what is there, nobody knows
			unrecorded($c->tool(get_task_run => {runId => $once->{runId}}), $re, "$name: no run is read");
		}
		my $again = sub { $c->run(echo => {n => 1}, mode => 'sync', idempotencyKey => $key) };
		is($again->()->{view}{runId}, $once->{runId}, "$name: a run is found again by the key") if $f->{reads};
		fault($s);
		ok(until_true('the key', sub { ($again->()->{view}{runId} // '') eq $once->{runId} }), '  what was told stays');
		is($c->ended($going)->{status}, 'canceled', "$name: the end is recorded when the store has room");
		$c->tool(cancel_task_run => {runId => $last});
		is($c->ended($last)->{status}, 'canceled', "$name: the recorded end is told");
		my $r = $c->run(echo => {n => 6}, mode => 'sync');
		is($r->{view}{status}, 'succeeded', "$name: runs are made without a restart") or diag(json_of($r));
		is($c->tool(get_artifact => {artifactId => $kept->{result}})->{view}{complete}, true, "$name: artifacts are read");
	}
	fault($s, $db_faults[0]{line});
	$c->run(echo => {n => 7}, mode => 'sync');
	fault($s);
	# without readers and waiting requests, the server must find out by itself
	my $tries = 0;
	ok(until_true('runs', sub { $tries++; succeeded($c->run(echo => {n => 8}, mode => 'sync')) }),
	   "$way: it finds out itself that it can write again");
}

# ---- limits ----

# Two artifacts of 5 and 9 bytes: the manifest's limits, the named limit, the person who can
# raise the limit, the kept artifact.
my $author = qr/^the template's author: limits\./;
my @limits = (
    ['maxArtifacts', {maxArtifacts => 1}, 'artifacts', $author, 'a.txt'],
    ['maxArtifacts of none', {maxArtifacts => 0}, 'artifacts', $author, ''],
    ['maxArtifactBytes', {maxArtifactBytes => 6}, 'artifact_bytes', $author, 'a.txt'],
    ['artifact_bytes of the requestor', {}, 'artifact_bytes', qr/^the operator: artifact_bytes in \[requestor "ada"\]$/, 'a.txt'],
);
my $two = 'run.artifact{name = "a.txt", data = "12345"} run.artifact{name = "b/c.txt", data = "123456789"}';
my %both = (
    lua => [lua("$two return 1"), 'failed'],
    caught => [lua("return pcall(function() $two end)"), 'succeeded'],
    both => [lua("return pcall(function() $two end)", supportsPartialSuccess => true), 'partial_success'],
    out => [sh($leaves), 'failed'],
    part => [sh($leaves, supportsPartialSuccess => true), 'partial_success'],
);

sub limits_hold {
	my %t = map { my $l = $_; map { ("${_}_$l" => {%{$both{$_}[0]}, limits => $limits[$l][1]}) } keys %both }
	    0 .. $#limits;
	my $new = sub {
		my $s = Http->new(templates => {%t}, config =>
		    "[requestor \"ada\"]\ntoken_sha256 = " . Http::sha256_hex('t') . "\n$_[0]");
		$s->{tokens} = {ada => 't'};
		return $s;
	};
	my $s = $new->('');

	for my $l (0 .. $#limits) {
		my ($name, undef, $limit, $who, $kept) = @{$limits[$l]};
		my $own = $who =~ /operator/;

		for my $template (sort keys %both) {
			my $at = $own ? $new->("artifact_bytes = 10\n") : $s;
			my $v = $at->client('ada')->greeted->run_sync("${template}_$l");

			$at->stop(undef, 'TERM') if $own;
			tells_limit($v, $template, $limit, $who, $kept, "$name: $template")
			    unless cage_less(json_of($v));
		}
	}
	$s->stop(undef, 'TERM');
}

sub tells_limit {
	my ($v, $template, $limit, $who, $kept, $name) = @_;
	my $e = ref $v->{error} ? $v->{error} : {};
	my $m = ($v->{missingArtifacts} // [])->[0] // {};
	my $fails = $both{$template}[1] eq 'failed';

	local $Test::Builder::Level = $Test::Builder::Level + 1;
	ok(($v->{status} // '') eq $both{$template}[1] && ($e->{errorCode} // '') eq ($fails ? 'RESOURCE_LIMIT' : '')
	   && join(' ', map { $_->{name} } @{$v->{artifacts}}) eq $kept
	   && (grep { ($_->{errorCode} // '') eq 'RESOURCE_LIMIT' && $_->{details}{limit} eq $limit &&
			  $_->{details}{whoCanRaise} =~ $who } $m, $fails ? $e : ()) == ($fails ? 2 : 1),
	   "$name ends as it should, and says who can raise what") || diag(json_of($v));
}

# A program which ignores the results of its writes.
sub a_full_work {
	my $s = Paddock->new(templates => {
		cuts => sh('head -c 100000000 /dev/zero >out/big 2>/dev/null; echo 1',
			   limits => {maxMemoryBytes => 32 << 20}),
		fits => sh('echo x >out/small; echo 1', limits => {maxMemoryBytes => 32 << 20})});
	$s->init;
	my $v = $s->run_sync('cuts');
	my $m = ($v->{missingArtifacts} // [])->[0] // {};

	return $s->stop if cage_less(json_of($v));
	is($v->{status}, 'succeeded', 'a program that went on with a full /work succeeds, as it says')
	    or diag(json_of($v));
	is("$m->{name} $m->{errorCode} $m->{details}{limit}", '/work RESOURCE_LIMIT memory', '  the artifact of a full /work is reported as cut short');
	like("$m->{message} $m->{details}{whoCanRaise}", qr/may be cut short.*the template's author: limits\.maxMemoryBytes/, '  the message on a full /work says who can raise the limit');
	ok(!exists $s->run_sync('fits')->{missingArtifacts}, '  of what is whole nothing is said');
	$s->stop;
}

# ---- file systems ----

# The state is on a file system of 24 MiB, without a reserve.
sub mounted {
	my $root = Paddock::fresh_root();
	my %big = (keeps => lua('return run.artifact{name = "a", data = ("x"):rep(1 << 20)}'),
		   leaves => sh('head -c 1048576 /dev/zero >out/a; echo 1'), echo => $templates{echo});

	mkdir "$root/state";
	my $s = Http->new(templates => \%big, root => $root, config => "[limits]\ndisk_reserve_bytes = none\n",
		wrap => ['unshare', '-m', 'sh', '-c',
			 "mount -t tmpfs -o size=24m none $root/state && exec \"\$\@\"", 'sh']);
	my $c = $s->client->greeted;
	my $inside = "/proc/$s->{pid}/root$root/state";
	my $cli = Cli->new;
	my $kept = $c->run_sync('keeps');
	my $artifact = sub { $c->tool(get_artifact => {artifactId => $kept->{result}, limit => 1})->{view}{bytesReturned} };
	my $cage = !cage_less(json_of($c->run(leaves => {}, mode => 'sync')));

	my $left = sub { my ($n, $size) = split ' ', `stat -f -c '%a %S' $inside`; $n * $size };
	open my $f, '>>', "$inside/filler" or die "$inside: $!\n";
	while ((my $much = $left->() - (512 << 10)) > 4096) {
		syswrite $f, 'x' x ($much > 1 << 20 ? 1 << 20 : $much) or last;
	}
	close $f;
	for (['keeps', 'failed', 1], $cage ? ['leaves', 'failed', 1] : ()) {
		my ($template, $status, $exit) = @$_;
		my $v = $c->run_sync($template);

		is("$v->{status} $v->{error}{errorCode}", "$status STORE_UNAVAILABLE", "a full disk: $template");
		like($v->{error}{message}, qr/this server could not keep the artifact: its disk is full/, '  for the disk is full');
		is($v->{missingArtifacts}[0]{size}, 1 << 20, "a full disk: $template has a missing artifact");
		said($cli->run(['run', $template, '--socket', $s->{socket}]), $exit, qr/its disk is full.*code: STORE_UNAVAILABLE/s,
		     '  the command says so');
	}
	is($c->run_sync(echo => {n => 1})->{status}, 'succeeded', '  what fits goes on');
	ok(!glob("$inside/artifacts/tmp/*"), '  nothing is left of what did not');
	unlink "$inside/filler";
	is($c->run_sync('keeps')->{status}, 'succeeded', '  an artifact is kept when the disk has room again');

	# a file system with open files cannot be made read-only from outside: only files
	# opened later are affected
	my $in = sub { system('nsenter', '-t', $s->{pid}, '-m', @_) };
	ok(!$in->('mount', '--bind', "$root/state", "$root/state") && !$in->('mount', '-o', 'remount,bind,ro', "$root/state"),
	   'the state folder becomes read-only');
	my $says = qr/its state cannot be written/;
	ok(until_true('readyz', sub { $s->fetch('GET', '/readyz')->{status} == 503 }), '  readyz says no');
	unrecorded($c->run(echo => {n => 2}, mode => 'sync'), $says, '  no run is recorded');
	unrecorded($c->run('keeps', {}, mode => 'async'), $says, '  a run is not promised on a read-only state folder');
	said($cli->run(['run', 'keeps', '--socket', $s->{socket}]), 125, $says, '  the command says so');
	is($artifact->(), 1, '  an artifact is read from a read-only state folder');
	is($in->('umount', "$root/state"), 0, '  the state folder becomes writable');
	ok(until_true('readyz', sub { $s->fetch('GET', '/readyz')->{status} == 200 }), '  readyz says yes');
	is($c->run_sync('keeps')->{status}, 'succeeded', '  artifacts are kept in the writable folder');
	is($artifact->(), 1, '  the artifact of before is still there');
	$s->stop(undef, 'TERM');
}

# ---- the logs ----

sub logs {
	my $root = Paddock::fresh_root();
	my ($log, $audit) = ("$root/the.log", "$root/the.audit");
	my $s = server('Http', root => $root, unready => 1, config => "[server]\nlog_file = $log\naudit_file = $audit\n");

	($s->{port}) = until_true('the port', sub { (read_file($log) // '') =~ /ready=yes/ && read_file($log) =~ m{url="http://\S+:(\d+)/mcp"} && $1 });
	my $c = $s->client->greeted;
	my $warning = sub { json_to($s->fetch('GET', '/readyz')->{body})->{warning} };

	for (['write', 'ENOSPC', 'No space left on device'], ['half', 'ENOSPC', 'No space left on device'],
	     ['write', 'EIO', 'Input/output error'], ['half', 'EDQUOT', 'Disk quota exceeded']) {
		my ($call, $errno, $why) = @$_;

		write_file($_, '') for $log, $audit;
		fault($s, "$call $E{$errno} /the.\n");
		my $v = $c->run_sync(echo => {n => 1});
		is($v->{status}, 'succeeded', "$call gives $errno for both logs: runs go on");
		ok(met($s), '  the fault was met');
		is($warning->(), "its log cannot be written: $why", "$call gives $errno for both logs: readyz warns");
		fault($s, "$call $E{$errno} /the.audit\n");
		$v = $c->run_sync(echo => {n => 2});
		is($warning->(), "its audit log cannot be written: $why", "$call gives $errno for the audit log alone: readyz warns");
		fault($s);
		$v = $c->run_sync(echo => {n => 3});
		is($warning->(), undef, "$call gives $errno for the audit log alone: the warning ends");
		$c->run_sync(echo => {n => 4});
		my @lines = split /\n/, read_file($log);
		my @whole = grep { /^ts=\S+ level=\w+ part=\S+ / } @lines;
		ok(scalar(grep { /part=log lost=[1-9]\d* err="$why"$/ } @whole), '  the log says how many lines are lost, and why')
		    or diag(read_file($log));
		ok(scalar(grep { /part=audit written=yes lost=\d+$/ } @whole), "$call gives $errno for both logs: the log says how many audit entries are lost")
		    or diag(read_file($log));
		is(scalar(grep { /\bts=.*\bts=/ } @lines), 0, '  no line is within another');
		my @entries = map { eval { json_to($_) } // {torn => $_} } split /\n/, read_file($audit);
		my ($lost) = grep { ($_->{event} // '') eq 'lost' } @entries;
		cmp_ok($lost->{count} // 0, '>=', 4, '  the audit log says how many entries are lost');
		cmp_ok(scalar(grep { $_->{torn} } @entries), $call eq 'half' ? '>=' : '==', $call eq 'half' ? 1 : 0,
		       '  of which nothing joins another');
		is(scalar(grep { ($_->{event} // '') eq 'run_ended' && ($_->{runId} // '') eq $v->{runId} } @entries), 1,
		   "$call gives $errno for both logs: the audit log goes on");
	}
	my @told = (read_file($s->{log}) // '') =~ /^paddockd: the log cannot be written, so its lines are lost: (.*)$/mg;
	is(scalar @told, 4, 'each time stderr was told') or diag(read_file($s->{log}));
	$s->stop(undef, 'TERM');
}

# ---- the command's own files ----

sub files_below {
	my ($dir) = @_;

	return sort map { s{^\Q$dir\E/}{}r } grep { -f && !-l } map { glob("$dir/$_") } qw(* */* */*/*);
}

sub saved {
	my $cli = Cli->new(templates => {
		folders => lua('for _, n in ipairs(inputs.names) do run.artifact{name = n, data = n} end return 1')});
	my $save = sub {
		my ($names, %o) = @_;
		return $cli->run_private(['run', 'folders', '-o', 'to', '-i', 'names:=' . json_of($names)], %o);
	};
	my @fault = (env => {LD_PRELOAD => $lib, PADDOCK_FAULTS => "$box/faults.cli"});
	my $to = "$cli->{here}/to";
	my $r = $save->([qw(a/r.txt b/r.txt ../up.txt /abs.txt a/../../x/./y.txt c/ p p/q)]);

	said($r, 0, qr{wrote to/a/r\.txt\n.*wrote to/b/r\.txt\n}s, 'artifacts keep their folders');
	same_json([files_below($to)], [sort qw(a/r.txt b/r.txt up.txt abs.txt a/x/y.txt c/artifact p p-2/q)],
		  'no artifact leads out of the folder');
	is(read_file("$to/b/r.txt"), 'b/r.txt', 'each is its own');
	$r = $save->(['a/r.txt']);
	said($r, 0, qr{wrote to/a/r-2\.txt}, 'none is overwritten');
	mkdir "$cli->{root}/elsewhere";
	symlink "$cli->{root}/elsewhere", "$to/link" or die;
	symlink "$cli->{root}/elsewhere/f", "$to/file" or die;
	$r = $save->([qw(link/f file)]);
	said($r, 0, qr{wrote to/link-2/f\n.*wrote to/file-2\n}s, 'no link is followed');
	is(scalar(() = glob "$cli->{root}/elsewhere/*"), 0, '  no file is written through a link');
	my ($run) = $cli->run_private(['run', 'folders', '--json', '-i', 'names:=["d/one"]'])->{out} =~ /(run_\w+)/;
	$r = $cli->run_private(['artifact', 'get', $run, 'd/one']);
	said($r, 0, qr{wrote \./d/one$}m, 'artifact get does as run does');

	return note('sanitizers want to be preloaded first') if !$have_lib;
	write_file("$box/faults.cli", "write 28 /to/bad\n");
	system('rm', '-rf', $to);
	$r = $save->([qw(a bad/1 bad2 c)], @fault);
	said($r, 125, qr{to/bad/1: No space left on device\n.*to/bad2: No space left on device\n.*2 of its 4 artifacts were not written\n.*paddock artifact get run_}s,
	     'of those that do not fit into a full folder each is told of');
	same_json([files_below($to)], [qw(a c)], '  artifacts that fit are whole, and no other file is there');
	is($r->{out}, "1\n", '  the result is printed though artifacts were not written');
	for (['open', 30, 'one', 'Read-only file system', '/one'], ['mkdir', 28, 'bad', 'No space left on device', ''],
	     ['write', 5, '/bad/', 'Input/output error', '/one']) {
		my ($call, $errno, $part, $why, $path) = @$_;

		system('rm', '-rf', $to);
		write_file("$box/faults.cli", "$call $errno $part\n");
		said($save->(['bad/one'], @fault), 125, qr{to/bad$path: $why\n}, "$call fails: $why");
	}
	write_file("$box/faults.cli", "write 28 /got\n");
	$r = $cli->run_private(['artifact', 'get', $run, 'd/one', '-o', 'got'], @fault);
	said($r, 125, qr/^paddock: got: No space left on device\n/, 'artifact get -o FILE fails on a full disk');
	ok(!-e "$cli->{here}/got", "artifact get -o FILE leaves no part of the artifact");
	write_file("$cli->{here}/got", 'before');
	$r = $cli->run_private(['artifact', 'get', $run, 'd/one', '-o', 'got'], @fault);
	said($r, 125, qr/so got is not whole/, '  the message says that the overwritten file is not whole');
}

sub full_stdout {
	my $cli = Cli->new(templates => {%templates});
	my $run = sub { $cli->run_private(@_, full => 1) };

	for (['run', 'echo'], ['run', '--json', 'echo'], ['run', 'part', '--no-artifacts'], ['ps', '-a'], ['ps', '-a', '--json'],
	     ['template', 'ls'], ['template', 'show', 'echo']) {
		said($run->($_), 125, qr/stdout cannot be written to/, "@$_: a stdout that is full is told of");
	}
	my $r = $cli->run_private(['run', 'echo', '--json']);
	my ($id) = $r->{out} =~ /(run_\w+)/;
	said($run->(['logs', $id]), 0, qr/\A[^\n]*has logged nothing\n\z/, 'a full stdout is no fault of a command that prints nothing');
	said($run->(['run', 'caught', '--json']), 125, qr/stdout/, 'a full stdout is told for a run with questions');
	$r = $cli->run_private(['run', 'lua', '-o', 'kept', '--json']);
	my ($art) = $r->{out} =~ /(art_\w+)/;
	said($run->(['artifact', 'cat', $art]), 125, qr/^paddock: stdout: No space left on device/, 'artifact cat says why');
	for ('--version', '--help', '--print-config', '--check --print-grants') {
		my $said = `$BUILD/paddockd $_ --templates $cli->{root}/templates 2>&1 >/dev/full`;

		is($? >> 8, 1, "paddockd $_ fails");
		is($said, "paddockd: stdout cannot be written to: No space left on device\n", "paddockd $_ says why");
	}
	my $ping = '{"jsonrpc":"2.0","id":1,"method":"ping"}';
	my $log = `echo '$ping' | $BUILD/paddockd --stdio --state-dir $cli->{root}/state --templates $cli->{root}/templates 2>&1 >/dev/full`;

	is($? >> 8, 1, 'a server whose answers go nowhere fails');
	like($log, qr/output=closed err="No space left on device"/, '  the log says why the output is closed');
	said($run->(['artifact', 'get', $art, '-o', '-']), 125, qr/^paddock: stdout: No space left on device/, 'artifact get -o -, too');
}

subtest 'a /work that is full' => \&a_full_work;
subtest 'limits' => \&limits_hold;
SKIP: {
	skip_lacking(1, 'mount');
	subtest 'file systems' => \&mounted;
}
subtest 'the files of the command' => \&saved;
subtest 'a stdout that is full' => \&full_stdout;

SKIP: {
	skip 'sanitizers want to be preloaded first', 1 if $SANITIZED;
	ok($have_lib, 'tests/lib/faults.c is built') or skip 'no compiler', 1;
	subtest 'the logs' => \&logs;
	subtest 'rows over stdio' => sub {
		my $s = server('Paddock')->greeted;
		rows_by(stdio => $s, $s);
		$s->stop;
	};
	subtest 'rows over HTTP, and the command' => sub {
		my $s = server('Http');
		rows_by(http => $s, $s->client->greeted);
		$s->stop(undef, 'TERM');
	};
	subtest 'artifacts over stdio' => sub {
		my $s = server('Paddock')->greeted;
		artifacts_by(stdio => $s, $s);
		$s->stop;
	};
	subtest 'artifacts over HTTP, and the command' => sub {
		my $s = server('Http');
		artifacts_by(http => $s, $s->client->greeted);
		$s->stop(undef, 'TERM');
	};
}

ok(strays_gone(), 'no process is left');
done_testing();
