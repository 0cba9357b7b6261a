#!/usr/bin/perl
# SPDX-License-Identifier: Apache-2.0
# Every limit of a run, reached: the named limit, the used and the allowed amount, and the
# person who can raise the limit; and no process group is left.
use lib 'tests/lib';
use Paddock;
use Cage;

sub sh { my ($code, %m) = @_; return {program => "#!/bin/bash\n$code\n", %m} }
sub pl { my ($code, %m) = @_; return {program => "#!/usr/bin/perl\n$code\n", %m} }

my $spin = 'run.progress(0, 1, "spins") while true do end';
my $talk = 'local from = run.deadline() for i = 1, 900 do run.log("info", i) end return from - run.deadline()';
my $hog = 'local t = {} for i = 1, 1 << 30 do t[i] = {i} end';
my %templates = (
    echo => lua('return inputs'),
    cpu => lua($spin, limits => {maxCpuMs => 200}),
    any_cpu => lua($spin),
    late => lua('run.sleep(60000)', limits => {maxTimeoutMs => 200}),
    memory => lua($hog, limits => {maxMemoryBytes => 8 << 20}),
    any_memory => lua($hog),
    output => lua('return ("x"):rep(5000)', limits => {maxOutputBytes => 1000}),
    one => lua('for i = 1, 2 do run.artifact{name = "a" .. i, data = "x"} end',
	       limits => {maxArtifacts => 1}),
    bytes => lua('run.artifact{name = "a", data = ("x"):rep(5000)}',
		 limits => {maxArtifactBytes => 1000}),
    logs => lua('for i = 1, 100 do run.log("info", ("x"):rep(100)) end return 1',
		limits => {maxLoggedBytes => 1000}),
    talks => lua($talk, limits => {maxMessagesPerSecond => 200}),
    any_talks => lua($talk),
    p_talks => sh('for i in {1..900}; do echo $i; done >&2; echo 1',
		  limits => {maxMessagesPerSecond => 200}),
    p_cpu => sh('while :; do :; done', limits => {maxCpuMs => 200}),
    p_late => sh('sleep 60', limits => {maxTimeoutMs => 300}),
    p_memory => pl('my @a; push @a, "x" x 1e6 for 1 .. 4000; print 1',
		   limits => {maxMemoryBytes => 64 << 20}),
    # little in each process, too much in all
    p_many => pl('for (1 .. 6) { fork // die "fork: $!" or do { my $x = "x" x 20e6; sleep 60 } } wait; exit 3 if $?; print 1',
		 limits => {maxMemoryBytes => 64 << 20}),
    p_files_in_memory => sh('for i in 1 2 3 4 5 6; do head -c 12000000 /dev/zero >/tmp/$i || exit 9; head -c 12000000 /dev/zero >$i || exit 9; done; echo 1',
			    limits => {maxMemoryBytes => 32 << 20}),
    p_output => sh('yes', limits => {maxOutputBytes => 1000}),
    p_processes => pl('my $n = 0; for (1 .. 50) { my $p = fork; last unless defined $p; if (!$p) { sleep 60; exit } $n++ } kill 9, -1 if 0; print $n',
		      limits => {maxProcesses => 8}),
    p_forks => pl('for (1 .. 50) { my $p = fork // die "fork: $!\n"; if (!$p) { sleep 60; exit } } sleep 60',
		  limits => {maxProcesses => 8}),
    p_all_files => pl('for (1 .. 500) { open my $f, ">", "$_" or die "$!\n" } print 1',
		      limits => {maxFiles => 40}),
    p_artifacts => pl('open F, ">&=3"; for (1, 2) { syswrite F, qq({"artifact":{"name":"a","data":"x"}}\n) } sleep 9',
		      limits => {maxArtifacts => 1}),
    p_artifact_bytes => pl('open F, ">&=3"; for (1, 2) { syswrite F, qq({"artifact":{"name":"a","data":"xxxxxx"}}\n) } sleep 9',
			   limits => {maxArtifactBytes => 10}),
    p_open => pl('my @f; while (@f < 500) { open my $f, "<", "/dev/null" or last; push @f, $f } print scalar @f',
		 limits => {maxOpenFiles => 32}),
    p_files => pl('my $n = 0; while ($n < 500) { open my $f, ">", "$n" or last; $n++ } print $n',
		  limits => {maxFiles => 40}),
    p_works => pl('my $x = "x" x 30e6; fork // die or do { my $t = times; 1 while times() - $t < 0.2; exit }; wait; print length $x',
		  limits => {maxMemoryBytes => 96 << 20}),
);

# Check that R failed by LIMIT with ALLOWED; WHO can raise the limit.
sub met {
	my ($v, $limit, $allowed, $unit, $who) = @_;
	my $e = $v->{error} // {};
	my $d = $e->{details} // {};

	local $Test::Builder::Level = $Test::Builder::Level + 1;
	is("$v->{status} " . ($e->{errorCode} // ''),
	   'failed ' . ($limit eq 'timeout' ? 'RUN_TIMEOUT' : 'RESOURCE_LIMIT'),
	   "$v->{templateId} meets its limit") or diag(json_of($v));
	is($d->{limit}, $limit, "$v->{templateId}: the error names the limit");
	is($d->{allowed}, $allowed, "$v->{templateId}: the error says how much is allowed");
	is($d->{unit}, $unit, '  in a unit');
	cmp_ok($d->{used} // -1, '>=', $allowed, "$v->{templateId}: the error says how much was used");
	like($d->{whoCanRaise}, $who, "$v->{templateId}: the error says who can raise the limit");
}

my $author = qr/^the template's author: limits\.max\w+, up to the server's max_\w+, or the operator: max_\w+ in \[template "\w+"\]$/;

# The name of S's groups, or undef without groups.
sub group_of {
	my ($s) = @_;
	my ($zygote) = $s->zygotes;

	return (Paddock::read_file("/proc/$zygote/cgroup") // '') =~
	    m{/(paddock-inst_\w+)} ? $1 : undef;
}

sub groups { my ($name) = @_;
	     return split /\n/, `find /sys/fs/cgroup -type d -name '$name' 2>/dev/null` }

# The processes in the group.
sub left_in {
	my ($name) = @_;

	for my $pid (map { split /\n/, Paddock::read_file($_) // '' }
		     glob "/sys/fs/cgroup/{,*/}$name/{,*/}cgroup.procs") {
		my $stat = Paddock::stat_of($pid) // {};

		diag(join ' ', $pid, map { $stat->{$_} // '?' } qw(comm state));
	}
}

my $s = Paddock->new(templates => \%templates);
$s->init or BAIL_OUT('no server');
my $profile = $s->tool('get_runtime_profile')->{view};
my $held = $profile->{isolation}{cgroup} ne 'none';
my $group = group_of($s);
my $programs = ($profile->{programs} // {available => 1})->{available};

# ---- what the operator gives one template ----

{
	my $t = Paddock->new(templates => {small => {%{$templates{memory}}}}, config => "[limits]\nmax_memory_bytes = 16M\n[template \"small\"]\nmax_memory_bytes = 32M\nmax_run_timeout_ms = 2h\n")->greeted;
	my $e = $t->run_sync('small')->{error};

	is($e->{details}{allowed}, 32 << 20, 'a template has what its section says, though its manifest and [limits] say less');
	is($e->{details}{whoCanRaise}, 'the operator: max_memory_bytes in [template "small"]', 'the error names the section whose limit counts');
	like(json_of($t->tool('list_task_templates', {templateId => 'small'})->{view}), qr/"template: max_run_timeout_ms"/, 'the template\'s view shows the raised limit');
	$t->stop;
}

# ---- Lua ----

met($s->run_sync('cpu'), 'cpu', 200, 'ms', $author);
met($s->run_sync('late'), 'timeout', 200, 'ms', $author);
met($s->run_sync(late => {}, timeoutMs => 100), 'timeout', 100, 'ms',
    qr/^the caller: options\.timeoutMs, up to the template's limits\.maxTimeoutMs$/);
{
	my $v = $s->run_sync('memory');

	met($v, 'memory', 8 << 20, 'bytes', $author);
	cmp_ok($v->{error}{details}{used}, '>', 8 << 20, '  the error says how much memory was wanted');
}
met($s->run_sync('output'), 'output_bytes', 1000, 'bytes', $author);
met($s->run_sync('one'), 'artifacts', 1, 'artifacts', $author);
met($s->run_sync('bytes'), 'artifact_bytes', 1000, 'bytes', $author);
{
	my $v = $s->run_sync('logs');
	my $m = $v->{metrics};
	my $log = $s->run_log($v->{runId});

	is($v->{status}, 'succeeded', 'a log that is too long is no failure');
	cmp_ok(length $log, '<', 1600, 'a log that is too long is cut');
	like($log, qr/notice this log has its 1000 bytes.*who can raise that is the template's author: limits\.maxLoggedBytes/,
	     'the end of a cut log says who can raise the limit');
	is($v->{limitsMet}[0]{limit}, 'logged_bytes', 'limitsMet of the run has the log');
	cmp_ok($v->{limitsMet}[0]{used}, '>', 1000, 'limitsMet says how much the log wanted');
	cmp_ok($m->{messages}, '>=', 101, 'the messages of a run are counted');
	is($m->{cpuMs} - $m->{cpuUserMs} - $m->{cpuSystemMs} <= 1, 1, 'CPU time, by kind');
	ok(defined $m->{readBytes} && defined $m->{writtenBytes} && $m->{maxRssBytes} > 0,
	   'memory and I/O');
}

{
	my $v = $s->run_sync('talks');

	# 700 at once, and 160 a second
	is($v->{status}, 'succeeded', 'who says more than its rate is not killed')
	    or diag(json_of($v));
	cmp_ok($v->{result}, '>=', 1200, 'a run above the message rate is slowed');
	cmp_ok($v->{metrics}{messages}, '>=', 900, 'a slowed run sends each message');
	is(scalar(() = $s->run_log($v->{runId}) =~ /^\S+ info \d+$/mg), 900, 'the log of a slowed run has each message');
}

# ---- programs ----

SKIP: {
	skip uncaged("programs are not run here: $profile->{programs}{reason}"), 1
	    unless $programs;
	met($s->run_sync('p_cpu'), 'cpu', 200, 'ms', $author);
	met($s->run_sync('p_late'), 'timeout', 300, 'ms', $author);
	met($s->run_sync('p_memory'), 'memory', 64 << 20, 'bytes', $author);
	met($s->run_sync('p_many'), 'memory', 64 << 20, 'bytes', $author);
	met($s->run_sync('p_output'), 'output_bytes', 1000, 'bytes', $author);
	met($s->run_sync('p_forks'), 'processes', 8, 'processes', $author);
	met($s->run_sync('p_all_files'), 'files', 40, 'files', $author);
	met($s->run_sync('p_artifacts'), 'artifacts', 1, 'artifacts', $author);
	met($s->run_sync('p_artifact_bytes'), 'artifact_bytes', 10, 'bytes', $author);
	cmp_ok($s->run_sync('p_open')->{result}, '<=', 32, 'open files of a program are bounded');
	cmp_ok($s->run_sync('p_files')->{result}, '<=', 40, 'files of a program are bounded');
	my $v = $s->run_sync('p_talks');
	is($v->{status}, 'succeeded', 'a program that says too much is not killed, either')
	    or diag(json_of($v));
	is(scalar(() = $s->run_log($v->{runId}) =~ /^\S+ info \d+$/mg), 900, 'all is said');
	cmp_ok($v->{metrics}{elapsedMs}, '>=', 1200, 'a program above the message rate is slowed');
	$v = $s->run_sync('p_works');
	is($v->{status}, 'succeeded', 'less than its limits is fine');
	cmp_ok($v->{metrics}{cpuMs}, '>=', 150, 'what its children used counts');
	SKIP: {
		skip 'no cgroup: ' . ($s->log_text =~ /cgroup: ([^"]*)/ ? $1 : '?'), 4
		    unless $held;
		my $few = $s->run_sync('p_processes');

		cmp_ok($few->{result}, '<=', 8, 'processes of a program are bounded');
		same_json($few->{limitsMet},
			  [{limit => 'processes', used => 9, allowed => 8, unit => 'processes',
			    whoCanRaise => "the template's author: limits.maxProcesses, up to " .
				"the server's max_processes, or the operator: max_processes in [template \"p_processes\"]"}],
			  'who goes on without more can see what it was held to');
		my $e = $s->run_sync('p_files_in_memory')->{error} // {};

		like("$e->{errorCode} " . ($e->{details}{limit} // ''),
		     qr/^(?:RESOURCE_LIMIT memory|EXECUTION_ERROR )$/, 'files in memory are bounded, too');
		cmp_ok($v->{metrics}{peakMemoryBytes}, '>=', 30e6, 'the peak of all together');
	}
}
$s->stop('the server ends');

# ---- the operator's ----

{
	my $o = Paddock->new(templates => \%templates, config => <<"CONF");
[limits]
max_cpu_ms = 150
default_memory_bytes = 6M
[requestor "alice"]
uid = $>
max_memory_bytes = 5M
CONF
	my $other = "the operator: max_memory_bytes in \\[requestor \"alice\"\\]";

	$o->init;
	met($o->run_sync('any_cpu'), 'cpu', 150, 'ms', qr/^the operator: max_cpu_ms in \[limits\]$/);
	met($o->run_sync('cpu'), 'cpu', 150, 'ms', qr/^the operator: max_cpu_ms in \[limits\]$/);
	met($o->run_sync('any_memory'), 'memory', 5 << 20, 'bytes', qr/^$other$/);
	is($o->tool('get_runtime_profile')->{view}{requestorLimits}{maxMemoryBytes},
	   5 << 20, 'the profile tells it');
	$o->stop;

	$o = Paddock->new(templates => \%templates,
			  config => {default_memory_bytes => '6M'});
	$o->init;
	met($o->run_sync('any_memory'), 'memory', 6 << 20, 'bytes',
	    qr/^the operator: default_memory_bytes in \[limits\], or \Q@{["the template's author: limits.maxMemoryBytes, up to the server's max_memory_bytes"]}\E$/);
	$o->stop;

	$o = Paddock->new(templates => \%templates,
			  config => {max_messages_per_second => 200});
	$o->init;
	cmp_ok($o->run_sync('any_talks')->{result}, '>=', 1200, 'the server slows all');
	is($o->tool('get_runtime_profile')->{view}{limits}{maxMessagesPerSecond}, 200,
	   'the profile tells the rate of messages');
	$o->stop;
}

# ---- what is left ----

SKIP: {
	skip 'there are no cgroups here', 4 unless $held && defined $group;
	is(scalar(groups($group)), 0, 'no group is left') or left_in($group);

	my $k = Paddock->new(templates => \%templates)->greeted;
	until_true('the zygote in its group', sub { defined($group = group_of($k)) });
	ok(until_true('the group', sub { groups($group) }), 'while a server lives it has one');
	$k->kill9;
	ok(until_true('the keeper', sub { !groups($group) }) || !groups($group),
	   'a killed server leaves no cgroup');

	$k = Paddock->new(templates => \%templates);
	$k->init;
	until_true('the zygote in its group', sub { defined($group = group_of($k)) });
	kill KILL => grep { (Paddock::stat_of($_)->{comm} // '') eq 'paddock-keeper' }
	    Paddock::children_of($k->{pid});
	$k->kill9;
	strays_gone();
	$k = Paddock->new(templates => \%templates);
	$k->init;
	is(scalar(groups($group)), 0, 'the next server leaves no cgroup of a killed one');
	$k->stop;
}
done_testing();
