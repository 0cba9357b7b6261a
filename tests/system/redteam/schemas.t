#!/usr/bin/perl
# SPDX-License-Identifier: Apache-2.0
# Expensive schemas cost only the requestor, within bounds: as the schemas of templates'
# inputs and outputs (tests/system/redteam/tables/schemas.pl), as forms, and in manifests.
# Other clients are served meanwhile.
use lib 'tests/lib';
use Paddock;
use Http;

my @rows = do './tests/system/redteam/tables/schemas.pl' or die $@ || $!;

@rows = grep { $_->[0] == $ENV{PADDOCK_ATTACK} } @rows if $ENV{PADDOCK_ATTACK};
my %templates;

for (@rows) {
	my ($n, undef, undef, %how) = @$_;
	my $schema = qq({"type":"object","properties":{"v":$how{schema}}});
	
	my %both = (limits => {maxOutputBytes => 4 << 20, maxMemoryBytes => 512 << 20});

	$templates{"take$n"} = lua('return {}', %both,
				   inputsSchema => json_to($schema));
	$templates{"give$n"} = lua('return inputs', %both,
				   outputsSchema => json_to($schema));
}
my $s = Http->new(templates => \%templates,
		  tokens => {mean => 'm', other => 'o'});
my $mean = $s->client('mean')->greeted;
my $other = $s->client('other')->greeted;
my $near = $s->Daemon::client->greeted; # by the socket

# How many jobs threads have done, by the server's own count.
my $looks = 0;

sub threads_did {
	$s->signal('USR1');
	$looks++;
	my $line = until_true('a status line', sub {
		my @all = $s->log_text =~ /offload.*? done=(\d+)/g;
		return @all >= $looks ? "n$all[-1]" : undef;
	});
	return substr $line // 'n0', 1;
}

# The answer to the tool NAME with v => VALUE, JSON; other clients make requests meanwhile.
sub attack {
	my ($name, $value) = @_;
	my $id = $mean->{next_id}++;
	my $conn = $s->connect;

	$conn->request('POST', '/mcp', $mean->headers,
		       qq({"jsonrpc":"2.0","id":$id,"method":"tools/call",) .
		       qq("params":{"name":"$name","arguments":{"v":$value}}}));
	my $served = 0;

	for (1 .. 3) {
		$served++ if $other->call('ping')->{result};
		$served++ if $near->call('ping')->{result};
	}
	is($served, 6, "  others are answered while $name is called");
	my $message = $conn->response->{json};

	# an answer after 200 ms comes as an event
	return $message if $message;
	my ($data) = ($conn->{body} // '') =~ /^data: (\{.*\})$/m;
	return $data ? json_to($data) : {};
}

sub check {
	my ($want, $r, $whose) = @_;
	my $e = $r->{isError} ? Paddock::json_to_text($r->{content}[0]{text}) : {};
	my ($kind, $rest) = split / /, $want, 2;

	if ($kind eq 'passes') {
		ok(Paddock::succeeded($r), '  a cheap value passes') or diag(json_of($r));
		return;
	}
	if ($kind eq 'costly') {
		is($e->{errorCode}, 'RESOURCE_LIMIT', '  a costly check is given up')
		    or diag(substr json_of($r), 0, 500);
		is($e->{details}{schema}, "/$whose/properties/v$rest",
		   '  the place in the schema is named');
		cmp_ok($e->{details}{used}, '>=', $e->{details}{allowed},
		       '  the refusal has the limit that was met');
		like($e->{error}, qr/$whose of \w+ is too costly/,
		     '  the refusal names the schema');
		return;
	}
	is($e->{errorCode}, $whose eq 'inputsSchema' ? 'INVALID_PARAMETER'
	   : 'OUTPUT_INVALID', '  a bad value is refused');
	like($e->{error}, qr/\Q$rest/, '  the refusal has the reason');
}

for (@rows) {
	my ($n, $what, $want, %how) = @$_;
	my $before = threads_did();
	my $r = attack("take$n", $how{value})->{result};

	ok($r, "$n: $what");
	check($want, $r, 'inputsSchema');
	cmp_ok(threads_did(), '>', $before, '  not on the loop')
	    unless $how{here};
	$r = attack("give$n", $how{value})->{result};
	ok($r, "$n: $what, as an output");
	check($want, $r, 'outputsSchema');
}

# ---- forms, and what clients answer ----

# The template's question, the client's answer (undef: not asked), and the code which the
# template gets, or '' with an answer.
my $choices = sub { [map { "v$_" } 1 .. $_[0]] };
my $form = sub { {type => 'object', properties => {@_}} };
my $several = sub {
	my ($n, @more) = @_;
	return {type => 'array', items => {type => 'string', enum => $choices->($n)},
		@more};
};
my $accept = sub { {action => 'accept', content => {@_}} };
my @asked = (
	['a form of 10000 properties', elicit =>
	 $form->(map { ("p$_" => {type => 'boolean'}) } 1 .. 10_000), undef,
	 'INVALID_PARAMETER'],
	['a choice of 100000', elicit =>
	 $form->(p => {type => 'string', enum => $choices->(100_000)}), undef,
	 'INVALID_PARAMETER'],
	['a choice of 30000, all of them preset', elicit =>
	 $form->(p => $several->(30_000, default => $choices->(30_000))), undef,
	 'INVALID_PARAMETER'],
	['100000 chosen', elicit => $form->(p => $several->(1000)),
	 $accept->(p => [('v1000') x 100_000]), ''],
	['names that were not asked for', elicit =>
	 $form->(p => {type => 'boolean'}),
	 $accept->(p => true, map { ("n$_" => 1) } 1 .. 20_000), ''],
	['what a model says, 20000 blocks', sample => undef,
	 {role => 'assistant', model => 'm', content => [
		 ({type => 'text', text => 'x'}) x 20_000]}, ''],
);
{
	my $show = sub {
		return lua("local ok, got = pcall(function() return $_[0] end)
		    if ok then return {code = ''} end
		    return {code = got.code or tostring(got)}",
		    limits => {maxTimeoutMs => 600000, maxMemoryBytes => 512 << 20});
	};
	my $t = Paddock->new(templates => {
		elicit => $show->('run.elicit{message = "m", schema = inputs.form}'),
		sample => $show->('run.sample{maxTokens = 9, messages = {{role = "user",
		    content = {type = "text", text = "hi"}}}}'),
	});

	$t->init(undef, {elicitation => {}, sampling => {}});
	for (@asked) {
		my ($what, $tool, $asks, $answer, $code) = @$_;
		my $id = $t->ask($tool => {form => $asks // {}});

		if ($answer) {
			my $m = $t->told($tool eq 'elicit' ? 'elicitation/create'
					 : 'sampling/createMessage');
			$t->reply($m, $answer);
		}
		ok($t->call('ping')->{result}, "$what: others are answered");
		is($t->result($id)->{view}{code}, $code, "$what: the question ends with $code");
	}
	$t->stop;
}

# ---- packages, at a reload ----

my @packages = do './tests/system/redteam/tables/manifests.pl' or die $@ || $!;

# Send N HUPs, without waiting for each; other clients make requests until the last is
# answered.
sub reload_meanwhile {
	my ($re) = @_;
	my $already = () = $s->log_text =~ /reload=\w+/g;

	$s->signal('HUP');
	my $served = 0;
	my $said = until_true('a reload', sub {
		$served++ if $other->call('ping')->{result};
		$served++ if $near->call('ping')->{result};
		$served = -1e9 if $served % 2; # one of them was not
		my @all = $s->log_text =~ /(reload=.*)/g;
		return @all > $already ? $all[$already] : undef;
	}) // 'nothing';

	cmp_ok($served, '>=', 2, '  others are answered while packages are loaded');
	like($said, $re, '  a reload tells what became of the packages');
}

for (@packages) {
	my ($n, $what, $want, %how) = @$_;

	# built as text, since Perl would sort the keys of a decoded object
	my $m = json_of({templateId => 'package', version => '1.0.0', name => 'p',
			 description => 'For a test.',
			 runtime => {type => 'lua', entry => 'main.lua'}});
	$m =~ s/\}$/,"inputsSchema":{"type":"object","properties":{"v":$how{schema}}}}/;
	my $dir = "$s->{root}/templates/package-1.0.0";
	write_file("$dir/template.json", $m);
	write_file("$dir/main.lua", 'return function() return {} end');
	note "package $n: $what";
	reload_meanwhile($want eq 'loads' ? qr/reload=done .*broken=0/ : qr/reload=done .*broken=1/);
	like(($s->log_text =~ /(skipped=.*)/g)[-1], qr/package-1\.0\.0.*(?:$want)/, '  the log says why a package was skipped')
	    unless $want eq 'loads';
}
ok($other->tool(list_task_templates => {})->{view}{templates},
   'what was there before is there');
unlink "$s->{root}/templates/package-1.0.0/template.json";
reload_meanwhile(qr/reload=done/);

$s->stop;
done_testing;
