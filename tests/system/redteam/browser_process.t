#!/usr/bin/perl
# SPDX-License-Identifier: Apache-2.0
# browser_process.t - a browser's broker compromised before entering its sandbox, where root
# starts paddockd: the acts which the user id alone prevents, and possible lines in the
# server's log.
use lib 'tests/lib';
use Paddock;
use File::Copy qw(copy);
use File::Temp qw(tempdir);

needs('root');

my $folder = Paddock::fresh_root();
copy("$BUILD/$_", "$folder/$_") or BAIL_OUT("$_: $!") for qw(paddockd paddock-worker);
copy('tests/system/redteam/fake_browser_process.pl', "$folder/paddock-browser") or BAIL_OUT($!);
chmod 0755, map { "$folder/$_" } qw(paddockd paddock-worker paddock-browser);
write_file("$folder/chromium", "#!/bin/sh\n");
chmod 0755, "$folder/chromium";
my $told = "$folder/paddock-browser.told";
write_file($told, '');
chmod 0666, $told;

my $home = tempdir('paddock-home.XXXXXX', DIR => '/root', CLEANUP => 1);
write_file("$home/mail", 'private');
my $log = "$folder/paddock.log";
my $audit = "$folder/audit.log";
my $s = Paddock->new(build => $folder,
	templates => {echo => lua('return inputs'), doze => lua('run.sleep(60000)')},
	config => "[server]\naudit_file = $audit\n[browser]\nchromium = $folder/chromium\n");
$s->init;
$s->run_sync('echo');
my $run = $s->run_async('doze');
ok(until_true('a sibling runs', sub { $s->worker_pid($run) }), 'a sibling runs');
my $worker = $s->worker_pid($run);
my ($state) = grep { -e "$_/paddock.db" } map { ($_, glob "$_/*") } "$s->{root}", "$s->{root}/state";
ok($state, "there is a state");

# The acts, each with the one right outcome.
my @table = (
    ['its user id', 'uid', undef, qr/^(\d+) \1$/],
    ['its groups', 'groups', undef, qr/^(\d+)(?: \1)?$/],
    ['its environment', 'environment', undef, qr/^PATH=\S+$/],
    ['its descriptors', 'descriptors', undef, qr/^0 1 2 3(?: \d+)*$/],
    ['its standard error', 'kind', 2, qr/^pipe$/],
    ['its standard input', 'kind', 0, qr/^device$/],
    ['be root again', 'root', undef, qr/^denied$/],
    ['list the state', 'list', $state, qr/^denied$/],
    ['read the database', 'read', "$state/paddock.db", qr/^denied$/],
    ['write the database', 'write', "$state/paddock.db", qr/^denied$/],
    ['make a file in the state', 'make', $state, qr/^denied$/],
    ['read the audit log', 'read', $audit, qr/^denied$/],
    ['write the audit log', 'write', $audit, qr/^denied$/],
    ['list a home', 'list', $home, qr/^denied$/],
    ['read what is in it', 'read', "$home/mail", qr/^denied$/],
    ['signal the server', 'signal', 'PARENT', qr/^denied$/],
    ['signal a worker', 'signal', $worker, qr/^denied$/],
    ['trace the server', 'trace', 'PARENT', qr/^denied$/],
    ['trace a worker', 'trace', $worker, qr/^denied$/],
    ['read the server\'s memory', 'read', '/proc/PARENT/mem', qr/^denied$/],
    ['read its environment', 'read', '/proc/PARENT/environ', qr/^denied$/],
    ['see what it has open', 'list', '/proc/PARENT/fd', qr/^denied$/],
    ['look into its root', 'link', '/proc/PARENT/root', qr/^denied$/],
);
write_file("$folder/paddock-browser.todo", json_of([map { [@$_[0 .. 2]] } @table]));
my $no = $s->tool('create_tab');
ok($no->{isError}, 'one that never answers is told of');
my %came = map { ($_->{name} => $_->{came}) } map { json_to($_) } split /\n/, read_file($told);
like($came{$_->[0]} // 'not tried', $_->[3], $_->[0]) for @table;
my ($uid) = split ' ', $came{'its user id'} // '';
my ($own) = (read_file("/proc/$s->{pid}/status") // '') =~ /^Uid:\s+(\d+)/m;
isnt($uid, $_, "the browser's user id is not $_") for 0, $own;
my ($first, $last) = $s->log_text =~ /part=server uids=(\d+)-(\d+)/;
ok($uid < $first || $uid > $last, 'the browser\'s user id is no worker\'s');

# ---- what it says ----

my $text = $s->log_text;
like($text, qr/^ts=(?!2020)\S+ level=info part=browser\/audit requestor=root forged=yes$/m,
	'a line of its own is told as its own, at our time');
unlike($text, qr/part=audit/, 'a line of the browser speaks for no other part');
like($text, qr/part=browser said="not a line\?\[2J of \\"ours\\""/, 'what is no line is quoted');
unlike($text, qr/[\x00-\x09\x0b-\x1f\x7f]/, 'no control character reaches the log');
cmp_ok(scalar(() = $text =~ /part=browser\/flood/g), '<', 12_000, 'a flood is cut');
like($text, qr/part=browser log=lossy lost=\d+/, 'lost lines of the browser are counted');
ok((grep { length > 2_100 } split /\n/, $text) == 0, 'no line is too long');

is($s->run_sync('echo')->{status}, 'succeeded', 'who asks for no page never noticed');
$s->tool(cancel_task_run => {runId => $run});
$s->ended($run);
$s->stop;
done_testing();
