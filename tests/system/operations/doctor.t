#!/usr/bin/perl
# SPDX-License-Identifier: Apache-2.0
# "paddock doctor" tries each shipped template in the real cage, names each failing template
# with the reason, and leaves nothing in the record.
use lib 'tests/lib';
use Paddock;
use Cli;
use Daemon;
use File::Basename qw(basename);

my ($table) = read_file("$TOP/cli/server/doctor_templates.c") =~ /\} shipped\[\] = \{\n(.*?)\n\};/s;
my @known = $table =~ /^    \{"(\w+)"/mg;
my @ship = map { basename($_) } glob("$TOP/etc/templates/* $TOP/etc/compiled/*");
is_deeply([sort @known], [sort @ship], 'each template that ships has something to do');

sub doctor { my ($cli, @more) = @_; return $cli->run(['doctor', '--state-dir', "$cli->{root}/state", @more]) }

my $cli = Cli->new;
my $r = doctor($cli, '--json', '--templates', "$TOP/etc/templates", '--templates', "$BUILD/templates");
my $found = json_to($r->{out});
my %tried = map { $_->{templateId} => $_ } @{$found->{tried}};

is($r->{status}, 0, 'doctor ends with status 0');
is_deeply([sort keys %tried], [sort @ship], 'each of them is tried');
for my $id (@ship) {
	SKIP: {
		skip_lacking(1, 'node') if $id =~ /^(?:run_node|text_digests)$/;
		skip_lacking(1, 'Chromium') if $id =~ /^(?:batch_extract_pages|login_keep_session|multi_tab_compare)$/;
		ok($tried{$id}{works}, "$id works") or diag($tried{$id}{why});
	}
}
is(json_of(json_to($cli->run(['ps', '-a', '--json', '--state-dir', "$cli->{root}/state"])->{out})), '[]', 'no run of it is left');

# Made-up templates by the same names, which fail in several ways.
my $inputs = {type => 'object'};
$cli = Cli->new(templates => {
	text_diff => lua('error("the disk is made of cheese")', inputsSchema => $inputs),
	csv_profile => lua('return {exitCode = 1, stderr = "Traceback\n  line 1\nImportError: no cheese\n"}', inputsSchema => $inputs),
	run_lua => lua('return {exitCode = 0, stderr = "a warning"}', inputsSchema => $inputs),
	json_query => lua('return 1', inputsSchema => {type => 'object', required => ['cheese']}),
	log_digest => lua('run.sleep(60000)', inputsSchema => $inputs, limits => {maxTimeoutMs => 200}),
	mine => lua('error("nobody tries this")', inputsSchema => $inputs),
});
$r = doctor($cli, '--templates', "$cli->{root}/templates");
like($r->{out}, qr/^templates    1 of 5 that ship work here$/m, 'how many work is told');
like($r->{out}, qr/^missing      the template text_diff: .*the disk is made of cheese$/m, 'one that raises an error is named, with it');
like($r->{out}, qr/^missing      the template csv_profile: ImportError: no cheese$/m, 'one whose code fails, with its last word');
like($r->{out}, qr/^missing      the template json_query: the value lacks the member "cheese"$/m, 'one that refuses, with why');
like($r->{out}, qr/^missing      the template log_digest: .*200/m, 'one that takes too long');
unlike($r->{out}, qr/nobody tries this/, 'doctor tries no template that does not ship');
like($r->{out}, qr/^runs work, but 4 of the 5 templates that ship do not$/m, 'runs work all the same, which is not all of the verdict');
is($r->{status}, 0, 'doctor ends with status 0 where templates fail but runs work');

# Programs which all fail.
sub program { return {program => "#!/bin/sh\n$_[0]", inputsSchema => $inputs} }
$cli = Cli->new(templates => {run_bash => program('exit 3'), word_count => program('exit 4'), run_lua => lua('return {exitCode = 0}', inputsSchema => $inputs)});
SKIP: {
	$r = doctor($cli, '--templates', "$cli->{root}/templates");
	like($r->{out}, qr/^missing      the template $_: /m, "$_ is named") for qw(run_bash word_count);
	unlike($r->{out}, qr/^(?:runs work|all is well)/m, 'where no program works the verdict is no good one');
	like($r->{err}, qr/^paddock: runs of programs do not work here; the lines above say why$/m, 'doctor says that runs of programs do not work');
	is($r->{status}, 125, '  doctor ends with status 125 where no program works');
	my $both = $cli->run(['doctor', '--state-dir', "$cli->{root}/state", '--templates', "$cli->{root}/templates"],
		within => ['/bin/sh', '-c', 'exec "$0" "$@" 2>&1'])->{out};
	like($both, qr/^missing .*\npaddock: runs of programs do not work here; the lines above say why\n\z/ms, 'where both outputs are one file the lines are above the message');
}
write_file("$cli->{root}/templates/run_bash-1.0.0/main", "#!/bin/sh\necho '{\"exitCode\": 0}'\n");
SKIP: {
	$r = doctor($cli, '--templates', "$cli->{root}/templates");
	like($r->{out}, qr/^runs work, but 1 of the 3 templates that ship do not$/m, 'one that works');
	is($r->{status}, 0, '  doctor ends with status 0 where one template works');
}

# A template which the daemon could not load, with the daemon's words: the command uses
# other folders, as where a service manager's filters show another machine to the daemon
# alone.
my $sick = Daemon->new(templates => {run_lua => lua('return {exitCode = 0}', inputsSchema => $inputs)}, idle => 1);
my $packages = "$sick->{root}/templates";
write_file("$packages/csv_profile/template.json", '{"templateId": "csv_profile"');
write_file("$packages/mine/template.json", '[]');
$sick->start->ready;
$cli = Cli->new;
$r = $cli->run(['doctor'], env => {PADDOCK_SOCKET => $sick->{socket}});
like($r->{out}, qr{^missing      the template csv_profile: template\.json:.+}m, 'a shipped one that the daemon could not load is named, with why');
like($r->{out}, qr{^missing      a template: \Q$packages\E/mine: }m, 'doctor names an operator\'s template that cannot be loaded');
is(scalar(() = $r->{out} =~ /csv_profile/g), 1, '  each once');
like($r->{out}, qr/^runs work, but 1 of the 2 templates that ship do not$/m, 'the verdict has it');
my $health = json_to($cli->run(['status', '--json'], env => {PADDOCK_SOCKET => $sick->{socket}})->{out});
is_deeply([map { "$_->{path}" } $health->{skipped}->@*], ["$packages/csv_profile", "$packages/mine"], 'status --json has both');
$sick->stop;

# A daemon whose only place is taken: doctor, stopped meanwhile, leaves no run behind.
my $d = Daemon->new(config => {max_concurrent_runs => 1}, templates => {
	mine => lua('run.sleep(600000)', inputsSchema => $inputs, limits => {maxTimeoutMs => 600000}),
	word_count => lua('return 1', inputsSchema => $inputs),
});
ok($d->ready, 'a daemon');
$cli = Cli->new;
my @env = (env => {PADDOCK_SOCKET => $d->{socket}});
my $runs = sub { return join ' ', map { "$_->{templateId} $_->{status}" } json_to($cli->run(['ps', '-a', '--json'], @env)->{out})->@* };
my ($mine) = $cli->run(['run', '--detach', 'mine'], @env)->{out} =~ /(run_\w+)/;
my $stopped = $cli->start(['doctor'], @env);
ok(until_true('a run of doctor', sub { $runs->() eq 'word_count queued mine running' }), 'the run of doctor is queued');
is($stopped->signal('INT')->finish->{status}, 130, 'ctrl-C stops doctor');
is($runs->(), 'mine running', 'the stopped doctor\'s run is deleted');
$cli->run(['cancel', $mine], @env);
$d->stop;

# A chroot whose root is no mount point: the kernel gives a process there no user namespace, and
# no mount can be made private.
SKIP: {
	skip 'only root can chroot', 2 unless as_root();
	my $jail = "$cli->{root}/jail";
	my $enter = join '; ', 'set -e', "cd $jail", 'mkdir usr etc proc dev run tmp b t',
		'ln -s usr/bin usr/lib usr/lib64 usr/sbin .',
		(map { "mount --rbind /$_ $_" } qw(usr etc proc dev)), "mount --bind $BUILD b",
		"mount --bind $TOP/etc/templates/word_count t",
		(map { "mount -t tmpfs none $_" } qw(run tmp)),
		'exec chroot . /b/paddock doctor --templates /t --state-dir /tmp/state';

	mkdir $jail or die "$jail: $!\n";
	open my $pipe, '-|', 'unshare', '-m', 'sh', '-c', "$enter 2>&1" or die "unshare: $!\n";
	my $out = do { local $/; <$pipe> };
	close $pipe;
	like($out, qr/^missing +userns: .*a process in a chroot may make none: start paddockd outside$/m,
	     'in a chroot doctor tells why there are no user namespaces') or diag($out);
	like($out, qr{root: EINVAL \(/ is not a mount point, as in a chroot: start paddockd outside\)},
	     'in a chroot doctor tells why the root of programs cannot be built');
}
done_testing;
