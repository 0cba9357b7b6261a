#!/usr/bin/perl
# SPDX-License-Identifier: Apache-2.0
# The table of budgets in SECURITY.md: each system call that any filter lets by,
# and each command and option of those that have many, is in one row of it, which
# says what of the kernel it takes and what bounds that. What a filter lets by
# is read from its golden table, which t_filter_table compares with the filter.
use lib 'tests/lib';
use Paddock;

my %allowed;

# By calls…
for my $golden (glob 'tests/unit/sandbox/golden/filter_*.txt') {
	for (split /\n/, read_file($golden)) {
		my ($name, $says) = /^x86_64\s+(\S+)\s+(.*)/ or next;

		# a program's forbidden calls are reported, and the end of its run
		next if $name eq '(others)' || $says !~ /ALLOW|ERRNO\(0\)/;
		push @{$allowed{$name}}, $golden;
	}
}

# …and by commands, as the filters' sources name them.
my %commands = (fcntl => 'F_', prctl => 'PR_', ioctl => '(?:TC|TIOC|FIO|SECCOMP_)', setsockopt => '(?:SO|TCP|IP|IPV6|NETLINK)_');
my %command;

for my $source (glob 'sandbox/filter*.c') {
	my $text = read_file($source);

	$text =~ s{/\*.*?\*/}{}gs;
	while ($text =~ /\b(?:COMMAND\((fcntl|prctl|ioctl),|(OPTION(?:_IGNORED)?)\(\w+,|(?:SCMP_)?SYS\((fcntl|prctl|ioctl|setsockopt)\),)(?=\s*([^;]{0,160}))/g) {
		my $call = $1 // $3 // 'setsockopt';
		my $rest = $4;

		next if $rest =~ /^\s*(?:DENY|SCMP_ACT_ERRNO)\b/;
		$command{"$call($1)"} = 1 if $rest =~ /\b($commands{$call}\w+)/;
	}
}
delete $allowed{$_} for keys %commands;

# The table: from its heading to the next one.
my ($section) = read_file('SECURITY.md') =~ /^### What each system call takes\n(.*?)^##/ms;
ok(defined $section, 'SECURITY.md has a table of what each system call takes')
    or BAIL_OUT('it has no heading "What each system call takes"');
my (%row, @twice, @short);
for (split /\n/, $section) {
	next unless /^\|/ && !/^\|[-|: ]+\|$/;
	my (undef, @cell) = split /\s*\|\s*/;

	next if $cell[0] eq 'what it takes';
	push @short, $cell[0] if @cell != 4 || grep { $_ eq '' } @cell;
	for ($cell[1] =~ /`([^`]+)`/g) {
		push @twice, $_ if $row{$_}++;
	}
}

cmp_ok(scalar(keys %allowed), '>', 150, 'the filters let calls by');
cmp_ok(scalar(keys %command), '>', 40, 'and commands of some');
is_deeply(\@short, [], 'each row says what, by which calls, who is charged, and the bound');
is_deeply(\@twice, [], 'no call is in two rows');
is_deeply([grep { !$row{$_} } sort keys %allowed, keys %command], [],
	  'each call, command and option that a filter lets by is in a row');
is_deeply([grep { !$allowed{$_} && !$command{$_} } sort keys %row], [],
	  'and no row has one that none lets by');
done_testing();
