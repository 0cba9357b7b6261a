#!/usr/bin/perl
# SPDX-License-Identifier: Apache-2.0
# Ten thousand requests whose clients take the questions and never return leave only the
# rows of the runs behind.
use lib 'tests/lib';
use Paddock;
use Http;
use Stateless;

my ($TOOLS, $PROMPTS, $POSTS) = (2000, 7000, 1000);
my $GROWTH_KB = 4 << 10; # after a tenth of them: what the allocator keeps
my $form = {type => 'object', properties => {name => {type => 'string'}}};
my %can = (elicitation => {form => {}});
my %templates = (who => {code => "return function(run) run.elicit{message = 'Who?',
	schema = {type = 'object', properties = {name = {type = 'string'}}}} end",
    prompts => [{name => 'greet', description => 'd',
	asks => {user => {message => 'Who?', requestedSchema => $form}},
	messages => [{role => 'user', content => {type => 'text', text => '{user.name}'}}]}]});

# A server of CLASS, with an audit log of each run's end.
sub server {
	my ($class) = @_;
	my $audit = Paddock::fresh_root() . '/audit';

	return $class->new(templates => \%templates, audit => $audit,
	    config => "[limits]\ninput_wait_ms = 100\n[server]\naudit_file = $audit\n");
}

# The system resources of SERVER.
sub held {
	my ($s) = @_;
	my @fds = glob "/proc/$s->{pid}/fd/*";

	return {fds => scalar @fds, processes => scalar(children_of($s->{pid}))};
}

# Call ASK COUNT times, AT_ONCE at a time; ASK returns code which takes the answer. The
# number of questions.
sub many {
	my ($count, $at_once, $ask) = @_;
	my ($asked, @open) = 0;

	while ($count-- > 0 || @open) {
		push @open, $ask->() if $count >= 0;
		next if $count > 0 && @open < $at_once;
		my $r = shift(@open)->() // return $asked;
		$asked++ if ($r->{result}{resultType} // '') eq 'input_required';
	}
	return $asked;
}

# Run GO, which makes REQUESTS requests and returns the number of questions; ROWS rows must
# be left.
sub is_as_before {
	my ($s, $what, $requests, $rows, $go) = @_;
	my $ended = sub { scalar(() = (read_file($s->{audit}) // '') =~ /INPUT_TIMEOUT/g) };
	my $quiet = sub { my $n = shift; until_true("$n to end", sub { $ended->() >= $n }) if $n };

	is($go->($requests / 10), $requests / 10, "$what: each is asked");
	$quiet->($rows / 10);
	my ($before, $rss) = (held($s), Paddock::rss_kb($s->{pid}));

	is($go->($requests - $requests / 10), $requests - $requests / 10, 'many abandoned questions are answered or refused');
	$quiet->($rows);
	is($ended->(), $rows, 'each run of an abandoned question has ended');
	until_true('nothing to be left', sub { json_of(held($s)) eq json_of($before) });
	is_deeply(held($s), $before, 'no process and no descriptor is left');
	cmp_ok(Paddock::rss_kb($s->{pid}) - $rss, '<', $GROWTH_KB, 'no memory is left');
}

# ---- over lines ----

my $s = server('Paddock');
my $ask = sub {
	my ($method, $name) = @_;

	return sub {
		my $id = $s->request($method, stateless({name => $name, arguments => {}}, \%can));

		return sub { $s->answer($id) };
	};
};

is_as_before($s, 'prompts', $PROMPTS, 0, sub { many($_[0], 64, $ask->('prompts/get', 'greet')) });
is_as_before($s, 'calls', $TOOLS, $TOOLS, sub { many($_[0], 64, $ask->('tools/call', 'who')) });
$s->stop;

# ---- over HTTP: each has a connection of its own ----

my $h = server('Http');
my $c = $h->modern;

$c->{capabilities} = \%can;
is_as_before($h, 'POSTs', $POSTS, $POSTS, sub { many($_[0], 16, sub {
	my $id = $c->request('tools/call', {name => 'who', arguments => {}});
	my $conn = $c->route($id);

	return sub { my $r = $c->answer($id); $conn->hang_up; return $r };
}) });
$h->stop;
done_testing();
