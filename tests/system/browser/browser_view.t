#!/usr/bin/perl
# SPDX-License-Identifier: Apache-2.0
# browser_view.t - the host's files which Chromium sees: exactly the files in the tables
# below, wherever a state, logs or home folders are.
use lib 'tests/lib';
use Paddock;
use Broker;
use File::Path qw(remove_tree);
use File::Temp qw(tempdir);

needs('Chromium', 'root');

# Whole folders of the host are not listed in detail.
my %whole = map { $_ => 1 } qw(/usr /bin /sbin /lib /lib32 /lib64 /libx32 /etc/alternatives
	/etc/chromium /etc/chromium.d /etc/fonts /etc/ssl/certs /var/cache/fontconfig);
my %own = map { $_ => 1 } qw(/dev /dev/fd /dev/full /dev/null /dev/random /dev/shm /dev/stderr
	/dev/stdin /dev/stdout /dev/urandom /dev/zero /etc /home /proc /run /tmp /var /var/lib /var/tmp);
my %if_there = map { $_ => 1 } qw(/etc/ld.so.cache /etc/localtime /etc/ssl /var/cache);
my %writable = map { $_ => 1 } qw(/dev/shm /tmp /proc);

# Places in which an operator may keep secrets.
my @secret;
for my $place (qw(/opt /srv /var/opt /var/lib /var/log /home /root /mnt /media /run /etc /var/tmp /tmp /dev/shm)) {
	push @secret, tempdir('paddock-view.XXXXXX', DIR => $place, CLEANUP => 1) if -d $place;
	write_file("$secret[-1]/paddock.db", 'a state');
}
my $elsewhere = tempdir('/paddock-view.XXXXXX', CLEANUP => 1);
push @secret, $elsewhere;
write_file("$elsewhere/paddock.db", 'a state');
cmp_ok(scalar @secret, '>', 10, 'there are states in many places');

sub below {
	my ($pid, $what) = @_;

	return map { ((read_file("/proc/$_/cmdline") // '') =~ $what ? $_ : (), below($_, $what)) }
	    children_of($pid);
}

# The files below $at, except the files in %$not.
sub list {
	my ($root, $at, $not) = @_;
	my @all;

	opendir my $d, "$root$at/" or return;
	for my $name (sort grep { !/^\.\.?$/ } readdir $d) {
		my $path = "$at/$name";
		push @all, $path;
		push @all, list($root, $path, $not)
		    if !$not->{$path} && !-l "$root$path" && -d "$root$path";
	}
	return @all;
}

sub look {
	my ($args, $extra, $about) = @_;
	my $broker = Broker->new(args => $args);

	$broker->as->do('create_tab');
	my ($pid) = below($broker->{pid}, qr/remote-debugging-pipe/);
	my $root = "/proc/$pid/root";
	my @seen = list($root, '', {%whole, '/proc' => 1, '/tmp' => 1, '/dev/shm' => 1, map { $_ => 1 } (@$extra ? $extra->[-1] : ())});

	is_deeply([grep { !$whole{$_} && !$own{$_} && !$if_there{$_} } @seen], $extra,
		  "$about: there is nothing that is not in the table");
	my %seen = map { $_ => 1 } @seen;
	is_deeply([grep { !$seen{$_} } sort keys %own], [], "$about: each path of the table is there");
	is_deeply([grep { -e "$root$_" || -e "$root$_/paddock.db" } @secret], [], 'no state is in sight');
	ok(!-e "$root/sys" && !-e "$root/etc/passwd" && !-e "$root/etc/paddock", 'no accounts and no configuration are in sight');
	for (split /\n/, read_file("/proc/$pid/mountinfo")) {
		my ($at, $options) = (split)[4, 5];
		ok($writable{$at} || $options =~ /^ro,/, "$at cannot be written to");
		like($options, qr/nosuid/, "$at gives no rights");
		like($options, qr/nodev/, "$at gives no devices") if $at !~ m{^/dev};
	}
	my ($renderer) = below($broker->{pid}, qr/--type=renderer/);
	is_deeply([list("/proc/$renderer/root", '', {})], [], 'a page\'s process sees no file at all')
	    if $renderer;
	$broker->stop;
	return;
}

look([], [], 'an installed browser');

# ---- one that somebody keeps elsewhere ----

my ($chromium) = grep { -x } map { ("$_/chromium-headless-shell", "$_/chromium") }
    split(/:/, $ENV{PATH}), '/usr/bin';
my $home = tempdir('/paddock-home.XXXXXX', CLEANUP => 1);
chmod 0755, $home;
mkdir "$home/chrome";
write_file("$home/private", 'not for the browser');
write_file("$home/chrome/data", 'Chromium\'s own');
write_file("$home/chrome/run", "#!/bin/sh\nexec $chromium \"\$\@\"\n");
chmod 0755, "$home/chrome/run", "$home/chrome";
symlink "$home/chrome/run", "$home/link";
look(['--chromium', "$home/$_"], [$home, "$home/chrome"], "one elsewhere ($_)") for 'chrome/run', 'link';

# ---- and one that lies where everybody's files do ----

my $bare = File::Temp->new(DIR => '/var/tmp');
print $bare "#!/bin/sh\nexec $chromium \"\$\@\"\n";
chmod 0755, $bare;
close $bare;
look(['--chromium', "$bare"], ["$bare"], 'one among others\' files');

done_testing();
