#!/usr/bin/perl
# SPDX-License-Identifier: Apache-2.0
# cli_polls.t - the command asks no more often than the server allows: "logs -f" is notified
# of news, and at a rate limit the command waits and asks again.
use lib 'tests/lib';
use Paddock;
use Cli;
use Daemon;

my %templates = (
    talks => lua('for i = 1, 15 do run.log("info", "line " .. i); run.sleep(200) end return 1'),
    quick => lua('for i = 1, 300 do run.log("info", "line " .. i); run.sleep(5) end return 1'),
    many => lua('for i = 1, 9 do run.artifact{name = "f" .. i, mimeType = "text/plain", data = "x" .. i} end return 1'),
);
my $run = qr/run_[a-z2-7]{26}/;
my $cli = Cli->new;

sub lines_of { return join ' ', map { /line (\d+)$/ ? $1 : () } split /\n/, $_[0] }

# ---- nobody is asked too often ----
{
	my $d = Daemon->new(templates => \%templates);
	my @there = ('--socket', $d->{socket});

	$d->ready;
	for (['talks', 15], ['quick', 300]) {
		my ($name, $n) = @$_;
		my ($id) = $cli->run(['run', $name, '--mode', 'async', @there])->{out} =~ /($run)/;
		my $r = $cli->run(['logs', '-f', $id, @there]);

		said($r, 0, qr/\A\z/, "logs -f of $name ends well");
		is(lines_of($r->{out}), join(' ', 1 .. $n), 'each line is shown once, in order');
	}
	unlike($d->log_text, qr/overpolls=[1-9]/, "logs -f is counted as no overpoll");
	$d->stop;
}

# ---- who is, waits ----
{
	my $d = Daemon->new(templates => \%templates, config => "[requestor \"me\"]\nuid = $>\nrate_per_second = 3\nburst = 3\n");
	my @there = ('--socket', $d->{socket});

	$d->ready;
	my ($id) = $cli->run(['run', 'talks', '--mode', 'async', @there])->{out} =~ /($run)/;
	my $r = $cli->run(['logs', '-f', $id, @there]);

	said($r, 0, qr/\A\z/, 'at a low rate logs -f ends well, too');
	is(lines_of($r->{out}), join(' ', 1 .. 15), 'logs -f at a low rate shows each line');
	$r = $cli->run(['run', 'many', '-o', 'many', @there]);
	is($r->{status}, 0, 'a run with more artifacts than requests a second') or diag($r->{err});
	is(read_file("$cli->{here}/many/f9"), 'x9', 'a run with many artifacts has each file written');
	$cli->run(['status', $id, @there]) for 1 .. 3;
	is($cli->run(['status', $id, @there])->{status}, 0, 'status waits its turn');
	$d->stop;
}
ok(strays_gone(), 'nothing is left behind');
done_testing();
