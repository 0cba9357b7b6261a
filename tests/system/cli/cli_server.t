#!/usr/bin/perl
# SPDX-License-Identifier: Apache-2.0
# The server which a command uses: the server named by a flag or in the environment; else
# the user's own daemon, or root's where the user may open the socket; else a private
# server.
use lib 'tests/lib';
use Paddock;
use Cli;
use Daemon;

# Other tests must not meet root's daemon of this test.
if (as_root() && !@ARGV) {
	exec qw(unshare --mount --propagation private sh -c),
	    'mount -t tmpfs -o mode=0755 paddock-cli /run/paddock && exec "$0" "$@"', $^X, $0, 'inside'
	    or die "unshare: $!\n";
}

my %templates = (good => lua('return inputs.s or "none"', inputsSchema => {type => 'object', properties => {
	s => {type => 'string', writeOnly => JSON::PP::true}}}));
my $cli = Cli->new(templates => \%templates);
my $named = Daemon->new(templates => \%templates);
$named->ready;
my @env = (env => {PADDOCK_SOCKET => $named->{socket}});

sub server {
	my ($r) = @_;

	return $r->{out} =~ /^(daemon|private) +(\S+)$/m ? "$1 $2" : "$r->{out}$r->{err}";
}

# ---- named ----

is(server($cli->run(['status'], @env)), "daemon $named->{socket}", 'PADDOCK_SOCKET names the daemon');
my $doctor = $cli->run(['doctor'], @env);
is(server($doctor), "daemon $named->{socket}", 'doctor names the daemon of PADDOCK_SOCKET');
like($doctor->{out}, qr{^paddock +(\S+)\nserver +\1\ndaemon }m, 'doctor tells the versions of the command and of the server, which are the same');
unlike($doctor->{out}, qr/one version of everything/, 'doctor does not ask for one version where there is one');
is(server($cli->run(['status', '--socket', $named->{socket}], env => {PADDOCK_SOCKET => '/nowhere'})),
   "daemon $named->{socket}", 'the flag comes first');
like(server($cli->run(['status', $cli->private], @env)), qr/^private /, 'flags of a private server go before PADDOCK_SOCKET');
said($cli->run(['ps'], env => {PADDOCK_SOCKET => '/nowhere'}), 125,
     qr{\Apaddock: no server answers at /nowhere, which PADDOCK_SOCKET names: No such file or directory\n  hint: start paddockd with that --socket, or unset PADDOCK_SOCKET\n\z},
     'where none answers no other is tried');
is($cli->run(['complete', '--', 'run', 'go'], @env)->{out}, "good\n", 'completion asks it, too');

# ---- secrets ----

{
	my $r = $cli->run(['run', 'good', '-i', 's=env:T_SECRET', '-q'], env => {%{$env[1]}, T_SECRET => '@hush'});

	is($r->{out}, qq("\@hush"\n), '-i key=env:NAME takes a variable, as it is');
	said($cli->run(['run', 'good', '-i', 's=env:T_UNSET'], @env), 2,
	     qr/\Apaddock: s: the environment has no variable "T_UNSET"; set it, or write s=env::T_UNSET for the text env:T_UNSET\n\z/, 'one that is not set is named');
}

# ---- root's, for another user ----

SKIP: {
	skip_lacking(9, 'root');
	my $at = '/run/paddock/paddock.sock';
	my @user = (user => $NOBODY);
	my $home = "$cli->{root}/home";

	mkdir $home;
	chown $NOBODY, $NOBODY, $home;
	chmod 0755, $cli->{root}, $cli->{here};
	my $root = Daemon->new(templates => \%templates, socket => $at);
	$root->ready;
	my $status = sub { $cli->run(['status', @_], @user, env => {HOME => $home}) };
	my $r = $status->();

	like(server($r), qr/^private /, "root's daemon, which lets in no group, is passed over");
	is($r->{err}, '', 'root\'s daemon is passed over without a word');
	chown 0, scalar(getgrnam('daemon')), $at;
	$r = $status->();
	like(server($r), qr/^private /, 'one for a group that the user is not in');
	is($r->{err}, "paddock: the daemon at $at is for the group daemon: root can add you to it; using a private server\n",
	   'the daemon of another group is told with the group');
	is($status->('-q')->{err}, '', 'the daemon of another group is not told with -q');
	chown 0, $NOBODY, $at;
	is(server($status->()), "daemon $at", 'one for a group of the user\'s is found');
	is($cli->run(['complete', '--', 'run', 'go'], @user, env => {HOME => $home})->{out}, "good\n", 'completion finds the daemon of a group');
	$r = $cli->run(['run', 'good', '-q'], @user, env => {HOME => $home});
	is($r->{out}, qq("none"\n), 'the daemon of a group runs templates') or diag($r->{err});
	my $own = Daemon->new(templates => \%templates, user => $NOBODY, socket => "$home/.local/state/paddock/paddock.sock");
	$own->ready;
	is(server($status->()), "daemon $own->{socket}", "the user's own comes first");
	$own->stop;
	$root->stop;
}
$named->stop;
ok(strays_gone(), 'nothing is left behind');
done_testing();
