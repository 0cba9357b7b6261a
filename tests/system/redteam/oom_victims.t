#!/usr/bin/perl
# SPDX-License-Identifier: Apache-2.0
# On a machine without memory the kernel ends runs first: processes of runs, builds and the
# browser have the highest oom_score_adj, the server and the process of root's rights have
# the value that paddockd was started with, and a program cannot lower its own.
use lib 'tests/lib';
use Paddock;
use POSIX ();
use Socket;

my $program = "#!/bin/sh\n(echo 0 >/proc/self/oom_score_adj) 2>/dev/null\n(echo 0 >/proc/\$\$/task/\$\$/comm) 2>/dev/null && exit 3\n" .
    "echo said >/dev/stderr\ncat /proc/self/oom_score_adj\n";
my %templates = (prog => {program => $program}, naps => lua("run.progress(0, 1, 'naps') run.sleep(600000)"));

sub score { return read_file("/proc/$_[0]/oom_score_adj") =~ s/\n//r }

# comm => the scores of the processes below PID.
sub scores_below {
	my ($pid, $all) = @_;

	for my $child (children_of($pid)) {
		my $comm = Paddock::stat_of($child)->{comm} // next;
		my $score = eval { score($child) } // next;

		$all->{$comm}{$score} = 1;
		scores_below($child, $all);
	}
	return $all;
}

for (users()) {
	my ($who, $uid) = @$_;
	my $s = Paddock->new(templates => \%templates, user => $uid);

	$s->init;
	my $run = $s->run_async('naps', {}, timeoutMs => 60_000);
	$s->get_until($run, 'runs', sub { $_->{status} eq 'running' });
	my $below = scores_below($s->{pid}, {});
	is(join(' ', sort keys %{$below->{'paddock-worker'}}), 1000, "$who: zygotes, shims and a Lua worker go first");
	is(score($s->{pid}), score($$), "$who: the server keeps its place");
	is(join(' ', sort keys %{$below->{paddockd} // {score($$) => 1}}), score($$), "$who: as does a process with root's rights");
	my $v = $s->run_sync('prog');
	is($v->{result}, 1000, "$who: a program goes first, and cannot change it") or diag(json_of($v));
	SKIP: {
		skip_lacking(1, 'Chromium');
		my $tab = $s->tool(create_tab => {});

		skip('no browser starts here', 1) if $tab->{isError};
		my $browser = scores_below($s->{pid}, {});
		my %named = map { %{$browser->{$_}} } grep { /browser|chrom|headless/ } keys %$browser;
		ok(!(grep { $_ < 1 } keys %named), "$who: the kernel ends paddock-browser and Chromium before the server") or diag(json_of($browser));
	}
	$s->tool(cancel_task_run => {runId => $run});
	$s->stop("$who: the server");
}

# A build, which waits for its lock.
socketpair my $ours, my $theirs, AF_UNIX, SOCK_STREAM, 0 or die "socketpair: $!\n";
my $pid = fork // die "fork: $!\n";
if ($pid == 0) {
	POSIX::dup2(fileno $theirs, 3) // POSIX::_exit(126);
	$^F = 3;
	if (as_root()) {
		$( = $) = "$NOBODY $NOBODY";
		POSIX::setuid($NOBODY);
	}
	exec "$BUILD/paddock-worker", 'build', 'pip' or POSIX::_exit(127);
}
close $theirs;
my $cage = until_true('the build in its cage', sub { (children_of($pid))[0] // (waitpid($pid, POSIX::WNOHANG()) == $pid ? -1 : undef) });
SKIP: {
	skip('no build can be caged here', 1) if $cage < 0;
	is(join(' ', map { score($_) } $pid, $cage), '1000 1000', 'the kernel ends a build and its cage before the server');
}
close $ours;
waitpid $pid, 0;
done_testing;
