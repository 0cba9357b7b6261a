# SPDX-License-Identifier: Apache-2.0
# limits.pl - the limits of a program by cgroup v2: what the kernel says of its group
# while the run goes on, and what the server says of its end.
use strict;
use warnings;
use lib '/root/guest';
use Guest;

my $groups = '/sys/fs/cgroup/system.slice/paddockd.service';
my $c = client() or die "the socket takes no client\n";
my $mib = 1 << 20;

# The group of what has the id of RUN in its environment.
sub group_of {
	my ($run) = @_;

	return until_true("a process of $run", sub {
		for my $file (glob '/proc/[0-9]*/environ') {
			next if index(text_of($file), "PADDOCK_RUN_ID=$run") < 0;
			my ($group) = text_of($file =~ s/environ$/cgroup/r) =~ /^0::(.+)$/m;
			return "/sys/fs/cgroup$group" if $group;
		}
		return undef });
}

sub number { my ($file, $key) = @_; return (text_of($file) =~ ($key ? qr/^$key (\d+)$/m : qr/^(\d+)$/m))[0] // -1 }

# What the kernel has counted in GROUP, also of earlier runs in it.
sub counted {
	my ($group) = @_;

	return {oom => number("$group/memory.events", 'oom_kill'), refused => number("$group/pids.events", 'max'),
		cpu_us => number("$group/cpu.stat", 'usage_usec')};
}

# A run of TEMPLATE: its group and the group's limits while it goes on, when SEEN is
# called, then how it ended, and what the kernel counted for it.
sub watched {
	my ($template, $inputs, $seen, %options) = @_;
	my %before = map { $_ => counted($_) } glob "$groups/run-*";
	my $run = $c->run($template, $inputs, mode => 'async', %options)->{runId} // '';
	my $group = group_of($run) // return {group => '', view => {}};
	my %at = (group => $group, map { $_ => number("$group/$_") } qw(memory.max pids.max));

	$seen->($group, \%at) if $seen;
	$at{view} = $c->ended($run);
	my $after = counted($group);
	return {%at, map { $_ => $after->{$_} - ($before{$group}{$_} // 0) } keys %$after};
}

# ---- memory ----

my $declared = json_to(text_of('/etc/paddock/templates/selftest_python/template.json'))->{limits}{maxMemoryBytes};
my %m = (memory => watched(selftest_python => {try => 'memory'}), sockets => watched(bounds => {try => 'sockets'}));
for (sort keys %m) {
	my ($max, $view) = @{$m{$_}}{qw(memory.max view)};

	like($m{$_}{group}, qr{^\Q$groups\E/run-\d+$}, "$_: a run has a group of its own below the unit");
	ok($max >= $declared && $max < $declared + 32 * $mib,
	   "$_: memory.max is what the manifest says, and a little for the shim and what it passes on", "$max where $declared is declared");
	like(json_of($view->{error}), qr/"limit":"memory"/, "$_: a program's memory is limited", json_of($view));
}
ok($m{sockets}{oom} > 0, 'memory.events says that the kernel ended the program whose sockets it counts', json_of($m{sockets}));
note("oom_kill, where the shim may come first: $m{memory}{oom}");

# ---- processes ----

my $p = watched(bounds => {try => 'processes'}, sub {
	my ($group, $at) = @_;

	$at->{processes} = until_true('the most processes', sub { my $n = number("$group/pids.current"); $n >= $at->{'pids.max'} ? $n : undef }) });
is($p->{'pids.max'}, 33, 'pids.max is what the manifest says, and the shim', json_of($p));
ok($p->{refused} > 0, 'pids.events says that the kernel refused a process', json_of($p));
is($p->{processes}, $p->{'pids.max'}, 'when there are as many', json_of($p));
like(json_of($p->{view}{result}), qr/^\[(?:2\d|3[01]),11\]$/, "a program's processes are limited: EAGAIN", json_of($p->{view}));
my $forks = watched(selftest_sh => {try => 'forks'}, undef, timeoutMs => 20000);
is($forks->{'pids.max'}, 33, 'a fork bomb has its 32 processes, too', json_of($forks));
like($forks->{view}{status}, qr/^(?:failed|succeeded)$/, 'and ends', json_of($forks->{view}));
ok(until_true('an empty group', sub { number("$forks->{group}/pids.current") == 0 }), 'with all that it started');

# ---- CPU ----

my $cpu = watched(selftest_sh_cpu => {try => 'spin'});
my $cpu_ms = json_to(text_of('/etc/paddock/templates/selftest_sh_cpu/template.json'))->{limits}{maxCpuMs};
my $used = $cpu->{cpu_us} / 1000;
like(json_of($cpu->{view}{error}), qr/"limit":"cpu"/, "a program's CPU is limited", json_of($cpu->{view}));
# the last look at cpu.stat may be a moment before the end
ok($used >= 0.8 * $cpu_ms && $used < 10 * $cpu_ms, 'and cpu.stat has as much', "$used ms where $cpu_ms ms are allowed");
note("$used ms of CPU by cpu.stat where $cpu_ms ms are allowed");

# ---- what no group counts ----

my %limits = (time => ['selftest_sh', {try => 'deaf'}, qr/RUN_TIMEOUT/, timeoutMs => 1000],
	      output => ['selftest_sh', {try => 'output'}, qr/"limit":"output_bytes"/]);
for my $what (sort keys %limits) {
	my ($id, $inputs, $want, %o) = @{$limits{$what}};
	my $v = $c->run($id, $inputs, %o);

	like(json_of($v->{error}), $want, "a program's $what is limited", json_of($v));
}
is(json_of($c->run(run_python => {code => 'print(6*7)'})->{result}{stdout}), '"42\n"', 'and the next run is as any other');
1;
