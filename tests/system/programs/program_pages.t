#!/usr/bin/perl
# SPDX-License-Identifier: Apache-2.0
# Reads of a template's own package tell no outsider about the inputs: a small package is a
# copy, with other pages than the files on disk. A package which is large, or cannot be
# copied, is shown directly.
use lib 'tests/lib';
use Paddock;
use Cage;
use Daemon;
use POSIX ();

# Read the last page of the template's file data.
my $READS = "#!/bin/sh\ntail -c 10 /template/data >/dev/null\necho 1\n";

# The pages of PATH in the kernel's cache; undef: unknown.
sub pages {
	my ($path) = @_;
	my $len = -s $path;
	my $vec = "\0" x (($len + 4095) >> 12);

	open my $in, '<', $path or die "$path: $!\n";
	my $at = syscall 9, 0, $len, 1, 1, fileno $in, 0; # mmap, PROT_READ, MAP_SHARED
	return undef if $at == -1 || syscall(27, $at, $len, $vec) != 0; # mincore
	syscall 11, $at, $len; # munmap
	return [map { $_ & 1 } unpack 'C*', $vec];
}

# Drop PATH from the kernel's cache; true on success.
sub evict {
	my ($path) = @_;

	open my $in, '<', $path or die "$path: $!\n";
	syscall 74, fileno $in; # fsync
	syscall 221, fileno $in, 0, 0, 4; # fadvise64, POSIX_FADV_DONTNEED
	return !grep { $_ } @{pages($path) // [1]};
}

{
	my $probe = Paddock::fresh_root() . '/probe';

	write_file($probe, 'x' x 8192);
	plan skip_all => 'files here are always in memory, or nobody may see which are' unless (POSIX::uname())[4] eq 'x86_64' && evict($probe);
}

for (users()) {
	my ($who, $user) = @$_;
	my $s = Daemon->new(user => $user, idle => 1, templates => {map { ($_ => {program => $READS}) } qw(small large padded unread)});
	my %bytes = (small => 4096, large => 5 << 20, padded => 3 << 20, unread => 10);
	my $seen = sub {
		my ($c, $id) = @_;
		my $data = "$s->{root}/templates/$id-1.0.0/data";

		evict($data) or return 'in memory';
		my $v = $c->run_sync($id);
		return !defined $v->{result} ? json_of($v->{error}) : pages($data)->[-1] ? 'itself' : 'a copy';
	};

	write_file("$s->{root}/templates/$_-1.0.0/data", 'x' x $bytes{$_}) for keys %bytes;
	write_file("$s->{root}/templates/unread-1.0.0/.swp", 'x');
	chown $user, $user, glob "$s->{root}/templates/*/{data,.swp}" if defined $user;
	chmod 0600, "$s->{root}/templates/unread-1.0.0/.swp";
	$s->start;
	my $c = $s->client->greeted;

	is($seen->($c, 'small'), 'a copy', "a small package is a copy ($who)");
	is($seen->($c, 'padded'), 'a copy', "a package of some MiB is a copy ($who)");
	is($seen->($c, 'large'), 'itself', "a large package is no copy ($who)");
	is($seen->($c, 'unread'), defined $user ? 'a copy' : 'itself', 'a package with an unreadable file runs uncopied');
	unlike($s->log_text, qr/unshown=/, 'the log says nothing of an uncopied package');

	# From now on only the server looks at the pages on disk.
	write_file("$s->{root}/templates/small-1.0.0/data", 'y' x 4096);
	is($c->run_sync('small')->{error}{errorCode}, 'EXECUTION_ERROR', 'a package that was changed does not run');
	is($s->reload, 'done', 'a changed package is loaded again');
	is($c->run_sync('small')->{result}, 1, 'a reloaded package runs');
	is($seen->($c, 'small'), 'a copy', 'a reloaded package is a copy');

	$s->write_config("[sandbox]\nmax_package_copies_bytes = 1M\n");
	$c->hang_up;
	$s->stop;
	$s = $s->again(templates => undef);
	$c = $s->client->greeted;
	is($seen->($c, 'small'), 'a copy', 'a small package is a copy where room is short');
	is($seen->($c, 'padded'), 'itself', 'a package without room for a copy is shown as on disk');
	$c->hang_up;
	$s->stop;
}
done_testing;
