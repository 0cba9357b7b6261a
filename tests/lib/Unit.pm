# SPDX-License-Identifier: Apache-2.0
# Unit.pm - paddockd as installed by "make install" and started by the systemd unit, without
# systemd: in a root of its own, with the mounts, limits, rights and filters of the unit's
# lines (unit.c applies the parts of a process). A line unknown to Unit.pm ends the test:
# the meaning must be added first.
package Unit;

use strict;
use warnings;
use Daemon;
use Paddock;
use POSIX ();

our @ISA = ('Daemon');

# The meaning of a line: a list of arguments for unit.c, or lines of the script which makes
# the root; undef: the line concerns systemd alone, or is handled below.
my $process = sub { my ($u, $key, $value) = @_; push @{$u->{process}}, "$key=$value"; return };
my $switch = sub { my ($u, $key, $value) = @_; die "$key=$value: only yes is known here\n" if $value ne 'yes'; push @{$u->{process}}, "$key=yes"; return };
my $none = sub { return };
my $folder = sub { my ($dir) = @_; return sub { $_[0]{folders}{$_[1]} = ["$dir/$_[2]", 0755]; return } };
my $mode = sub { my ($u, $key, $value) = @_; $u->{folders}{$key =~ s/Mode$//r}[1] = oct $value; return };
my %lines = (
    Type => sub { die "Type=$_[2] is not known here\n" if $_[2] ne 'notify'; return },
    ExecStart => sub { my ($u, $key, $value) = @_; $u->{command} = [split ' ', $value]; return },
    ExecStartPre => sub { die "ExecStartPre=$_[2] is not known here\n" if $_[2] !~ m{^\+/bin/mkdir -p -m (\d+) (/\S+)$}; $_[0]{made}{$2} = oct $1; return },
    ReadWritePaths => sub { $_[0]{folders}{$_[1]} = do { my $dir = $_[2] =~ s/^-//r; [$dir, $_[0]{made}{$dir} // die "ReadWritePaths=$_[2] is made by no ExecStartPre\n"] }; return },
    ExecReload => sub { die "ExecReload=$_[2] is not known here\n" if $_[2] ne '/bin/kill -HUP $MAINPID'; return },
    WatchdogSec => sub { $_[0]{env}{WATCHDOG_USEC} = ($_[2] =~ /^(\d+)s$/)[0] * 1e6; return },
    (map { $_ => $none } qw(Restart RestartPreventExitStatus KillMode TimeoutStopSec OOMPolicy RuntimeDirectoryPreserve)),
    Delegate => sub { die "Delegate=$_[2] is not known here\n" if $_[2] ne 'yes'; return }, # groups()
    (map { $_ => $process } qw(LimitNOFILE LimitCORE UMask CapabilityBoundingSet RestrictAddressFamilies SystemCallFilter
			       SystemCallErrorNumber SystemCallArchitectures)),
    (map { $_ => $switch } qw(NoNewPrivileges RestrictRealtime LockPersonality RestrictSUIDSGID MemoryDenyWriteExecute)),
    StateDirectory => $folder->('/var/lib'), StateDirectoryMode => $mode,
    LogsDirectory => $folder->('/var/log'), LogsDirectoryMode => $mode,
    RuntimeDirectory => $folder->('/run'), RuntimeDirectoryMode => $mode,
    ConfigurationDirectory => $none, # "make install" made it
    ProtectSystem => sub { die "ProtectSystem=$_[2] is not known here\n" if $_[2] ne 'strict'; $_[0]{strict} = 1; return },
    ProtectHome => sub { return map { "chmod 000 \$r$_" } qw(/home /root /run/user) },
    PrivateTmp => sub { return map { "mount -t tmpfs -o mode=1777,nosuid,nodev tmp \$r$_" } qw(/tmp /var/tmp) },
    PrivateDevices => sub { return 'mount -o remount,ro,noexec,nosuid $r/dev' },
    ProtectClock => sub { push @{$_[0]{process}}, 'ProtectClock=yes'; return },
    ProtectKernelLogs => sub { push @{$_[0]{process}}, 'ProtectKernelLogs=yes'; return 'test ! -e $r/proc/kmsg || mount --bind $r/.closed $r/proc/kmsg' },
    ProtectKernelModules => sub { push @{$_[0]{process}}, 'ProtectKernelModules=yes';
				  return 'test ! -d $r/usr/lib/modules || mount -t tmpfs -o mode=000 closed $r/usr/lib/modules' },
    ProtectKernelTunables => sub { return (map { "test ! -e \$r$_ || { mount --rbind \$r$_ \$r$_ && mount -o remount,bind,ro \$r$_; }" }
	qw(/proc/sys /proc/sysrq-trigger /proc/fs /proc/irq /proc/acpi /proc/mtrr /proc/bus), '/sys') },
    ProtectProc => sub { die "ProtectProc=$_[2] is not known here\n" if $_[2] ne 'invisible'; return },
);

# [key, value] of each line of [Service] in PATH, without comments and empty lines.
sub lines_of {
	my ($path) = @_;
	my $section = '';

	return grep { defined } map {
		/^\s*(?:[#;]|$)/ ? undef : /^\[(\w+)\]$/ ? do { $section = $1; undef }
		    : /^(\w+)=(.*)$/ ? ($section eq 'Service' ? [$1, $2] : undef) : die "$path: $_: no line of a unit's\n"
	} split /\n/, Paddock::read_file($path);
}

# The parent of a service's cgroups: the cgroup of this process, in version 1 or 2.
sub groups {
	my %own = map { my (undef, $names, $path) = split /:/, $_, 3; map { $_ => $path } $names eq '' ? '' : split /,/, $names }
	    split /\n/, Paddock::read_file('/proc/self/cgroup');
	my @v1 = grep { defined $own{$_} && -d "/sys/fs/cgroup/$_" } qw(memory pids cpu);

	return @v1 ? map { "/sys/fs/cgroup/$_" . ($own{$_} eq '/' ? '' : $own{$_}) } @v1 : '/sys/fs/cgroup' . ($own{''} // '');
}

# The script which builds the root $r from the files in DEST above the files of the machine.
sub script {
	my ($u, $r, $dest) = @_;
	my @all = ('set -e', "r=$r d=$dest", (map { "mkdir $_/paddock-unit-\$\$; echo \$\$ >$_/paddock-unit-\$\$/cgroup.procs" } groups()),
		'mount -t tmpfs -o mode=0755 root $r',
		'for i in usr etc proc sys dev run run/user tmp var var/lib var/log var/tmp home root; do mkdir -p $r/$i; done',
		'for i in bin sbin lib lib32 lib64 libx32; do test ! -L /$i || cp -P /$i $r/$i; done', 'touch $r/.closed; chmod 000 $r/.closed',
		'for i in usr etc; do mount -t overlay -o ro,lowerdir=$d/$i:/$i overlay $r/$i; done',
		'mount -t proc -o nosuid,nodev,noexec,hidepid=invisible proc $r/proc', 'mount --rbind /sys $r/sys',
		'mount -t tmpfs -o mode=0755,nosuid dev $r/dev', 'for i in null zero full random urandom tty; do cp -a /dev/$i $r/dev/; done',
		'ln -s /proc/self/fd $r/dev/fd; mkdir -m 1777 $r/dev/shm', 'mount -t tmpfs -o mode=1777 shm $r/dev/shm');

	push @all, map { $lines{$_->[0]}($u, @$_) } @{$u->{lines}};
	# the unit's own folders are writable mounts, kept below root/kept
	for (sort keys %{$u->{folders}}) {
		my ($dir, $mode) = @{$u->{folders}{$_}};

		push @all, sprintf 'mkdir -p $r%s; mount --bind %s $r%s', $dir, "$u->{root}/kept$dir", $dir;
		system('mkdir', '-p', "$u->{root}/kept$dir");
		chmod $mode, "$u->{root}/kept$dir"; # as systemd does, whose it is stays
	}
	push @all, 'mount -o remount,ro $r' if $u->{strict};
	return join("\n", @all) . "\n";
}

# fixture: the compiled unit.c; dest: the folder of "make install"; manager: as in Daemon;
# more: further arguments of the command; env: the environment; root: the root of an earlier
# unit, to continue with the same state.
sub new {
	my ($class, %o) = @_;
	my $self = bless {%o, folders => {}, process => []}, $class;

	$self->{root} //= Paddock::fresh_root();
	mkdir "$self->{root}/r";
	$self->{lines} = [lines_of("$o{dest}/usr/lib/systemd/system/paddockd.service")];
	my @unknown = grep { !$lines{$_} } map { $_->[0] } @{$self->{lines}};
	die "lines of the unit that this test does not know: @unknown\n" if @unknown;
	write_file("$self->{root}/enter", $self->script("$self->{root}/r", $o{dest}));
	$self->{$_} = [] for qw(notes other);
	$self->{answers} = {};
	@$self{qw(next_id in out)} = (1, '', '');
	$self->{state} = "$self->{root}/kept/var/lib/paddock";
	$self->{log} = "$self->{root}/log.0";
	$self->{env}{NOTIFY_SOCKET} = $self->{manager}{name};
	$self->start;
	$self->{socket} = "/proc/$self->{pid}/root/run/paddock/paddock.sock";
	return $self;
}

sub command {
	my ($self) = @_;

	return (qw(unshare --mount --propagation private sh -c), ". '$self->{root}/enter'; exec \"\$@\"", 'sh', $self->{fixture}, "Root=$self->{root}/r",
		@{$self->{process}}, '--', @{$self->{command}}, @{$self->{more} // []});
}

# "systemctl reload": systemd gives the folders named by kind in the unit (StateDirectory
# and others), with all their files, to root for each process of a service, ExecReload too,
# unless root owns the folder (observed with systemd 252).
sub reload {
	my ($self) = @_;

	for my $kind (grep { /^(?:State|Logs|Runtime)Directory$/ } sort keys %{$self->{folders}}) {
		my $dir = "$self->{root}/kept$self->{folders}{$kind}[0]";

		system('chown', '-R', '0:0', $dir) if (stat $dir)[4] != 0;
	}
	$self->signal('HUP');
}

# End the server by TERM; returns the exit status.
sub end {
	my ($self) = @_;

	$self->signal('TERM');
	waitpid $self->{pid}, 0;
	my $status = $self->{status} = $?;
	for my $group (map { "$_/paddock-unit-$self->{pid}" } groups()) {
		rmdir for glob("$group/*"), $group;
	}
	return $status;
}

# Run a command within the same root, as an operator runs a command beside the service; the
# output and the status.
sub ran {
	my ($self, @command) = @_;
	my $pid = open my $fh, '-|' // die "fork: $!\n";

	if ($pid == 0) {
		open STDERR, '>&', \*STDOUT;
		open STDIN, '<', '/dev/null';
		exec 'nsenter', "--mount=/proc/$self->{pid}/ns/mnt", "--root=/proc/$self->{pid}/root", '--wd=/', @command or POSIX::_exit(127);
	}
	local $/;
	my $out = <$fh> // '';
	close $fh;
	return ($out, $? >> 8);
}

1;
