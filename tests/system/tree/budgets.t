#!/usr/bin/perl
# SPDX-License-Identifier: Apache-2.0
# The table of budgets in SECURITY.md: each system call which any filter allows, and each
# command and option of calls with many, is in one row, which names the used kernel resource
# and the bound. The golden tables have the allowed calls; t_filter_table compares the
# golden tables with the filters.
use lib 'tests/lib';
use Paddock;

my %allowed;

# By calls…
for my $golden (glob 'tests/unit/sandbox/golden/filter_*.txt') {
	for (split /\n/, read_file($golden)) {
		my ($name, $says) = /^x86_64\s+(\S+)\s+(.*)/ or next;

		# a program's forbidden calls are reported, and so is the end of the run
		next if $name eq '(others)' || $says !~ /ALLOW|ERRNO\(0\)/;
		push @{$allowed{$name}}, $golden;
	}
}

# ... and by commands, as named in the filters' sources.
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

# ... and by flags and advice, as named in the kernel's headers: all except the refused
# flags.
my %header = (clone => ['CLONE_', '/usr/include/linux/sched.h'],
	      mmap => ['MAP_', glob('/usr/include/asm-generic/mman*.h'), '/usr/include/linux/mman.h'],
	      madvise => ['MADV_', '/usr/include/asm-generic/mman-common.h'],
	      fadvise64 => ['POSIX_FADV_', '/usr/include/linux/fadvise.h']);
my %not_one_flag = map { ("MAP_$_" => 1) } qw(TYPE FILE UNINITIALIZED);
my %value;

for my $call (keys %header) {
	my ($prefix, @files) = @{$header{$call}};

	for (map { split /\n/, read_file($_) } @files) {
		my ($name, $value) = /^#\s*define\s+($prefix(?!HUGE_|ARGS)\w+)\s+(0x[0-9a-fA-F]{1,8}|\d+)\b(?!U)/ or next;

		$value{$call}{$name} = $value =~ /^0x/ ? hex $value : $value unless $not_one_flag{$name};
	}
}
# the lowest byte of clone's flags is a signal
delete $value{clone}{$_} for grep { $value{clone}{$_} < 0x100 } keys %{$value{clone}};

my $of_program = read_file('sandbox/filter_program.c') . read_file('sandbox/filter_private.h');
my %refused = map { ($_ => 1) }
    map { $of_program =~ /#define $_\b((?:.*\\\n)*.*)/ ? $1 =~ /\b((?:MAP|CLONE)_\w+)/g : () } qw(MAPS_REFUSED NEW_NAMESPACES NOT_CLONED);
my %advised = map { my ($first, $n) = @$_; map { ($_ => 1) } $first .. $first + $n - 1 }
    map { [split /,/] } $of_program =~ /\bADVICE\((\d+, \d+)\),/g;
my %followed = map { ($_ => 1) } $of_program =~ /^\s*FADVISE\((\w+), (?:ALLOW|SCMP_ACT_ERRNO\(0\))\)/mg;

for my $call (keys %value) {
	for my $name (keys %{$value{$call}}) {
		$command{"$call($name)"} = 1
		    if $call eq 'madvise' ? $advised{$value{$call}{$name}} : $call eq 'fadvise64' ? $followed{$name} : !$refused{$name};
	}
}
$commands{$_} = 1 for keys %header;
delete $allowed{$_} for keys %commands;

# The table: from the heading to the next heading.
my ($section) = read_file('SECURITY.md') =~ /^### What each system call takes\n(.*?)^##/ms;
ok(defined $section, 'SECURITY.md has a table of what each system call takes')
    or BAIL_OUT('SECURITY.md has no heading "What each system call takes"');
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
cmp_ok(scalar(keys %command), '>', 40, 'the filters let commands of calls by');
is_deeply(\@short, [], 'each row says what, by which calls, who is charged, and the bound');
is_deeply(\@twice, [], 'no call is in two rows');
is_deeply([grep { !$row{$_} } sort keys %allowed, keys %command], [],
	  'each call, command and option that a filter lets by is in a row');
# newer headers have more names
my %unknown = map { ($_ => 1) } grep { my ($call, $name) = /^(\w+)\((\w+)\)/; $value{$call // ''} && !defined $value{$call}{$name} } keys %row;
is_deeply([grep { !$allowed{$_} && !$command{$_} && !$unknown{$_} } sort keys %row], [],
	  'no row has a call that no filter lets by');

# Bytes out of band: no filter allows a message whatever the flags are. The table of a birth
# has numbers alone; the zygote's table is beside.
my @any_flags = grep { !/filter_birth/ } map { my $call = $_; map { "$call of $_" } plain($call) }
    qw(sendto sendmsg sendmmsg recvfrom recvmsg recvmmsg);

# Advice on memory, in the same way.
my @any_advice = grep { !/filter_birth/ && read_file($_) =~ /^\w+\s+madvise\s+ALLOW$/m } glob 'tests/unit/sandbox/golden/filter_*.txt';

sub plain { return grep { read_file($_) =~ /^\w+\s+$_[0]\s+ALLOW$/m } @{$allowed{$_[0]}} }
is_deeply(\@any_flags, [], 'messages of sockets are looked at for MSG_OOB');
is_deeply(\@any_advice, [], 'no filter lets advice on memory by unread');
done_testing();
