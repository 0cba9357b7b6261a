# SPDX-License-Identifier: Apache-2.0
# Task.pm - tools called as tasks, in both eras of MCP, and the notifications about tasks in
# a session.
package Task;

use strict;
use warnings;

use Exporter qw(import);
use Paddock;
use Stateless;
use Test::More;

our @EXPORT = qw(RELATED task_call start_task get_task task_until task_over
		 all_tasks notes_of not_found $TASKS stateless ext_call ext_task
		 ext_get ext_until ext_over);

use constant RELATED => 'io.modelcontextprotocol/related-task';

# The answer to tools/call of NAME as a task: {result|error}.
sub task_call {
	my ($s, $name, $args, %o) = @_;

	return $s->call('tools/call', {name => $name, arguments => $args // {},
		task => $o{task} // {}, $o{meta} ? (_meta => $o{meta}) : ()});
}

# Start a task and return the taskId.
sub start_task {
	my ($s, @a) = @_;
	my $r = task_call($s, @a);

	diag('no task: ' . json_of($r)) unless $r->{result}{task};
	return $r->{result}{task}{taskId};
}

sub get_task {
	my ($s, $id) = @_;

	return $s->call('tasks/get', {taskId => $id})->{result} // {};
}

# Poll the task until CODE accepts the Task in $_; returns the Task.
sub task_until {
	my ($s, $id, $what, $code) = @_;
	my $task;

	until_true("$id $what", sub {
		$task = get_task($s, $id);
		local $_ = $task;
		return $code->() || !%$task;
	});
	return $task;
}

sub task_over {
	my ($s, $id) = @_;

	return task_until($s, $id, 'to end', sub {
		$_->{status} =~ /^(completed|failed|cancelled)$/ });
}

# Every Task of tasks/list, page by page; BETWEEN is called between two.
sub all_tasks {
	my ($s, $between) = @_;
	my ($cursor, @all);

	do {
		my $r = $s->call('tasks/list', {$cursor ? (cursor => $cursor) : ()});

		push @all, @{$r->{result}{tasks}};
		$cursor = $r->{result}{nextCursor};
		$between->() if $cursor && $between;
	} while ($cursor);
	return @all;
}

# The progress and status notifications about task ID to S, in order.
sub notes_of {
	my ($s, $id) = @_;

	return grep { ($_->{params}{taskId} //
		       $_->{params}{_meta}{+RELATED}{taskId} // '') eq $id }
	    @{$s->{notes}};
}

sub not_found {
	my ($a, $name) = @_;

	local $Test::Builder::Level = $Test::Builder::Level + 1;
	return same_json($a->{error}, {code => -32602, message => 'Task not found'},
			 $name);
}

# ---- by the extension of 2026-07-28 ----

# Call METHOD as a client with the task extension, or with CAPABILITIES: {result|error}.
sub ext_call {
	my ($s, $method, $params, $capabilities) = @_;

	return $s->call($method, stateless($params, $capabilities // {extensions => {$TASKS => {}}}));
}

# The taskId in the answer to a call of NAME.
sub ext_task {
	my ($s, $name, $args, $capabilities) = @_;
	my $r = ext_call($s, 'tools/call', {name => $name, arguments => $args // {}}, $capabilities);

	diag('no task: ' . json_of($r)) unless ($r->{result}{resultType} // '') eq 'task';
	return $r->{result}{taskId};
}

sub ext_get {
	my ($s, $id) = @_;

	return ext_call($s, 'tasks/get', {taskId => $id})->{result} // {};
}

sub ext_until {
	my ($s, $id, $what, $code) = @_;
	my $task;

	until_true("$id $what", sub {
		$task = ext_get($s, $id);
		local $_ = $task;
		return $code->() || !%$task;
	});
	return $task;
}

sub ext_over {
	my ($s, $id) = @_;

	return ext_until($s, $id, 'to end', sub {
		$_->{status} =~ /^(completed|failed|cancelled)$/ });
}

1;
