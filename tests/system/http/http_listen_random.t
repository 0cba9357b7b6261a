#!/usr/bin/perl
# SPDX-License-Identifier: Apache-2.0
# Clients which listen and leave at random, while tasks and templates come and go: each
# client gets the wanted notifications alone, and none about a task after the task's end.
# PADDOCK_SEED selects the steps, PADDOCK_STEPS the number.
use lib 'tests/lib';
use Paddock;
use Http;
use Stateless;

my $SEED = $ENV{PADDOCK_SEED} // 20260728;
my $STEPS = $ENV{PADDOCK_STEPS} // 800;
my $SUBSCRIPTION = 'io.modelcontextprotocol/subscriptionId';
my %knows = (extensions => {$TASKS => {}}, elicitation => {form => {}});
my %templates = (
	nap => lua('for i = 1, 10 do run.progress(i, 10, "n" .. i) run.sleep(inputs.ms / 10) end return {t = ("x"):rep(inputs.n)}',
		   taskSupport => 'required'),
	asks => lua('for i = 1, 3 do run.elicit{key = "k" .. i, message = "m", schema = {type = "object", properties = {}}} end return 1',
		    taskSupport => 'required'),
	notes => lua('', resources => [{uri => 'notes:a', name => 'a', text => 'old'}]),
);
my $s = Http->new(templates => \%templates, config => "[limits]\nmax_concurrent_runs = 20\nmax_listen_streams = 200\ndrain_timeout_ms = 1s\n");
my ($c, $lines) = ($s->modern, Client->new($s));
my (@tasks, @open, @wrong);
my ($n, $messages) = (0, 0);

srand $SEED;
$c->{capabilities} = \%knows;

sub some { my ($max) = @_; return @tasks ? map { $tasks[rand @tasks] } 1 .. rand $max : () }

# Check the message M for the listen ID; OF has the earlier messages.
sub judge {
	my ($id, $of, $m) = @_;
	my ($method, $params) = (($m->{method} // '') =~ s{^notifications/}{}r, $m->{params} // $m->{result});

	$messages++;
	push @wrong, "$id: of another: " . json_of($m) if json_of($params->{_meta}{$SUBSCRIPTION}) ne json_of($id);
	push @wrong, "$id: not first: $method" if ($method eq 'subscriptions/acknowledged') == ($of->{n}++ > 0);
	if ($method eq 'subscriptions/acknowledged') {
		$of->{may} = {map { ($_ => 1) } @{$params->{notifications}{taskIds}}, @{$params->{notifications}{resourceSubscriptions}}};
	} elsif ($method eq 'tasks') {
		push @wrong, "$id: after its end" if $of->{over}{$params->{taskId}};
		push @wrong, "$id: not asked for: $params->{taskId}" unless $of->{may}{$params->{taskId}};
		$of->{over}{$params->{taskId}} = 1 if $params->{status} !~ /^(?:working|input_required)$/;
	} elsif ($method eq 'resources/updated') {
		push @wrong, "$id: not asked for: $params->{uri}" unless $of->{may}{$params->{uri}};
	} elsif ($method ne 'tools/list_changed' && exists $m->{method}) {
		push @wrong, "$id: not asked for: $method";
	}
}

# Check the messages on STREAM so far.
sub look {
	my ($stream) = @_;

	if (!$stream->{status}) {
		return unless $stream->{in} =~ /\r\n\r\n/;
		$stream->head;
		push @wrong, "$stream->{listens}: $stream->{status}" if $stream->{status} != 200;
	}
	while ($stream->{in} =~ /^([0-9a-f]+)\r\n/ && length $stream->{in} >= length($1) + 4 + hex $1) {
		$stream->more or last;
	}
	while ($stream->{body} =~ s/^(.*?)\n\n//s) {
		judge($stream->{listens}, $stream->{of} //= {}, json_to($1)) if $1 =~ /^data: (.*)/m;
	}
}

sub read_all {
	for my $stream (@open) {
		$stream->fill_now;
		look($stream);
	}
	$lines->turn(1);
	for my $m (splice @{$lines->{notes}}) {
		my $id = $m->{params}{_meta}{$SUBSCRIPTION};

		judge($id, $lines->{of}{$id} //= {}, $m) if $m->{method} ne 'notifications/cancelled';
	}
}

sub filter {
	my @ids = some(12);

	return {toolsListChanged => true, taskIds => \@ids,
		resourceSubscriptions => ['notes:a', map { ("paddock://runs/$_", "paddock://runs/$_/log") } some(5)]};
}

my @steps = (
	(sub {
		my $ask = rand() < .3 ? {name => 'asks', arguments => {}}
		    : {name => 'nap', arguments => {ms => int rand 300, n => rand() < .2 ? 200000 : 5}};

		push @tasks, $c->call('tools/call', $ask)->{result}{taskId};
		shift @tasks if @tasks > 60;
	}) x 3,
	(sub {
		push @open, $c->post_request('subscriptions/listen', {notifications => filter()}, $n);
		$open[-1]{listens} = $n++;
		(pop @open)->hang_up if rand() < .3;
		(shift @open)->hang_up if @open > 40;
	}) x 3,
	sub { (splice @open, rand @open, 1)->hang_up if @open },
	sub {
		$c->call('tasks/cancel', {taskId => $_}) for some(2);
		$c->call('tasks/update', {taskId => $_, inputResponses => {map { ("k$_" => {action => 'decline'}) } 1, 2}}) for some(4);
	},
	sub {
		$lines->request('subscriptions/listen', stateless({notifications => filter()}, \%knows), 'u' . $n++);
		$lines->turn(1);
		$lines->notify('notifications/cancelled', {requestId => 'u' . ($n - 1 - int rand 6)});
		return if rand() > .05;
		$lines->hang_up;
		$lines = Client->new($s);
	},
	sub {
		read_all();
		return if rand() > .1;
		$s->write_templates({%templates, "x$n" => lua('return 1')});
		$s->signal('HUP');
	},
);

$steps[rand @steps]->() for 1 .. $STEPS;
read_all();
$lines->hang_up;
$s->stop('at the end nothing is left');
for my $stream (@open) {
	1 while $stream->fill;
	look($stream);
}
is(scalar @wrong, 0, "$STEPS random steps: each is told what it asked for, by seed $SEED");
diag("  $_") for @wrong[0 .. ($#wrong < 9 ? $#wrong : 9)];
cmp_ok($messages, '>', $STEPS / 10, 'a tenth of the steps brings messages');
done_testing;
