#!/usr/bin/perl
# SPDX-License-Identifier: Apache-2.0
# HUPs while the server still measures the cage: the awaited worker may be gone, or come,
# meanwhile.
use lib 'tests/lib';
use Paddock;
use Daemon;
use File::Copy qw(copy);
use File::Path qw(remove_tree);

# Programs' workers, or (KIND lua) Lua's, begin once there is a file "go".
sub slow_build {
	my ($root, $kind) = @_;
	my $dir = "$root/build";

	mkdir $dir;
	copy("$BUILD/paddockd", "$dir/paddockd") or die "copy: $!\n";
	write_file("$dir/paddock-worker", "#!/bin/sh\ncase \" \$* \" in *\" program \"*) kind=program;; *) kind=lua;; esac\n" .
		   ": >>$dir/begun.\$kind\nuntil [ -e $dir/go ] || [ \$kind != $kind ]; do\n" .
		   "kill -0 \$PPID 2>/dev/null || exit\nsleep 0.05\ndone\nexec $BUILD/paddock-worker \"\$@\"\n");
	chmod 0777, $dir;
	chmod 0755, "$dir/paddockd", "$dir/paddock-worker";
	return $dir;
}

my %program = (program => "#!/bin/sh\necho '{}'\n");

# A server with TEMPLATES whose workers of KIND start slowly; one has begun.
sub slow {
	my ($kind, %templates) = @_;
	my $s = Daemon->new(templates => \%templates, idle => 1);

	$s->{build} = slow_build($s->{root}, $kind);
	$s->start;
	until_true('a slow worker', sub { -e "$s->{build}/begun.$kind" }) or die "no slow worker\n";
	return $s;
}

sub go { write_file("$_[0]{build}/go", '') }

{
	my $s = slow(program => echo => lua('return inputs'), runs => {%program});

	$s->log_has(qr/isolation=full|isolation=\w+ landlock/);
	unlike($s->log_text, qr/ready=yes/, 'a server waits for its programs to be measured');
	remove_tree("$s->{root}/templates/runs-1.0.0");
	is($s->reload, 'done', 'the last program goes by a HUP');
	ok($s->ready, '  a server without programs is ready');
	my $c = $s->client->greeted;
	same_json($c->run_sync('echo', {n => 1})->{result}, {n => 1}, '  a server without programs serves');
	is($c->run('runs', {})->{view}{errorCode}, 'TEMPLATE_NOT_FOUND', '  a removed program is not found');
	$c->hang_up;
	$s->stop;
}
{
	my $s = slow(lua => echo => lua('return inputs'));

	$s->write_templates({runs => {%program}});
	is($s->reload, 'done', 'before anything is measured a HUP brings a program');
	unlike($s->log_text, qr/ready=yes/, '  a new program before the measure makes no server ready');
	go($s);
	ok($s->ready, '  a measure of Lua and of programs makes the server ready');
	$s->stop;
}
{
	my $s = slow(lua => echo => lua('return inputs'), runs => {%program});

	remove_tree("$s->{root}/templates/runs-1.0.0");
	is($s->reload, 'done', 'before anything is measured a HUP takes the last program away');
	unlike($s->log_text, qr/ready=yes/, '  the removal of programs does not replace the measure of Lua');
	go($s);
	ok($s->ready, '  the measure of Lua makes the server ready');
	$s->stop;
}
{
	my $s = Daemon->new(templates => {map { ("many_$_" => lua('return inputs')) } 1 .. 800});
	my @gone = grep { !/many_1-1/ } glob "$s->{root}/templates/*";

	$s->ready;
	remove_tree(@gone);
	for (my $n = 0; $n < 8 && alive($s->{pid}); $n = () = $s->log_text =~ /reload=done templates=1\b/g) {
		$s->signal('HUP');
	}
	my $c = $s->client->greeted;
	same_json($c->run_sync('many_1', {n => 1})->{result}, {n => 1},
		  'HUPs while hundreds of templates are still being freed end no server');
	$c->hang_up;
	$s->stop;
}
done_testing;
