#!/usr/bin/perl
# SPDX-License-Identifier: Apache-2.0
# The manual pages name exactly the existing flags, commands, keys and calls. (The test
# t_config_manual.c compares paddock.conf(5) word for word.)
use lib 'tests/lib';
use Paddock;

my %page = map { s{.*/}{}r => read_file($_) } glob "$TOP/man/*.[1358]";

sub page_has {
	my ($page, @words) = @_;
	my $text = $page{$page};
	my @missing = grep { $text !~ /(?<![\w.])\Q$_\E(?![\w])/ } @words;

	local $Test::Builder::Level = $Test::Builder::Level + 1;
	ok(@words && !@missing, "$page has all of " . scalar @words)
	    or diag("missing: @missing");
}

# The flags named in PAGE.
sub named_in {
	my ($page) = @_;
	my %flag = map { $_ => 1 } map { /Fl Fl ([a-z-]+)/g } $page{$page};

	return sort map { "--$_" } keys %flag;
}

sub said { # what CMD prints
	my (@cmd) = @_;

	open my $f, '-|', @cmd or die "@cmd: $!\n";
	local $/;
	return <$f>;
}

same_json([sort keys %page],
	  [qw(paddock-call.1 paddock-node.3 paddock-python.3 paddock-template.5 paddock.1 paddock.conf.5 paddockd.8)],
	  'seven pages');

SKIP: {
	skip_lacking(scalar keys %page, 'man');
	is(`MANWIDTH=80 man -l --warnings $TOP/man/$_ 2>&1 >/dev/null`, '', "$_ is set without a warning") for sort keys %page;
}

my $usage = said("$BUILD/paddockd", '--help');
page_has('paddockd.8', map { "Fl Fl $_" } $usage =~ /^  --([a-z-]+)/mg);
same_json([named_in('paddockd.8')], [sort map { "--$_" } $usage =~ /^  --([a-z-]+)/mg], 'paddockd(8) names no other flag');

my $help = said("$BUILD/paddock", 'help');
my @commands = $help =~ /^  ([a-z][a-z -]*?)  +\S/mg;
page_has('paddock.1', map { "Ic $_" } @commands);
my %of_any = map { $_ => 1 } '--version', map { said("$BUILD/paddock", 'help', split) =~ /(--[a-z-]+)/g } @commands;
same_json([grep { !$of_any{$_} } named_in('paddock.1')], [], 'paddock.1 names no flag that no command has');
for my $command (@commands) {
	next if $command =~ /^(?:help|schema)$/;
	my $text = said("$BUILD/paddock", 'help', split ' ', $command);
	my ($own) = $text =~ /\n\n(.*?)Flags of every command/s;
	my %flag = map { $_ => 1 } ($own // '') =~ /--([a-z-]+) /g;

	delete @flag{qw(templates state-dir config)}; # those of every command
	page_has('paddock.1', map { "Fl Fl $_" } sort keys %flag) if %flag;
}

# The commands and modules that programs find in a cage.
for my $command (map { s{.*/}{}r } sort glob "$BUILD/modules/bin/*") {
	page_has('paddock-call.1', $command, map { "Fl Fl $_" } said("$BUILD/modules/bin/$command", '--help') =~ /--([a-z]+)/g);
}
{
	my ($python) = read_file("$TOP/etc/modules/python/paddock/__init__.py") =~ /^__all__ = \[(.*?)\]/ms;
	my ($node) = read_file("$TOP/etc/modules/node_modules/paddock/index.mjs") =~ /\{(.*?)\}/;

	page_has('paddock-python.3', $python =~ /\w+/g);
	page_has('paddock-node.3', $node =~ /\w+/g);
}

my $schema = json_to(read_file("$TOP/etc/template.schema.json"))->{properties};
page_has('paddock-template.5', map { $_ eq '$schema' ? 'Ic $schema' : $_ }
	 sort keys %$schema);
page_has('paddock-template.5', sort keys %{$schema->{limits}{properties}});
for my $key (sort keys %{$schema->{limits}{properties}}) {
	my $default = $schema->{limits}{properties}{$key}{default} // next;

	next if $key eq 'maxProcesses';
	like($page{'paddock-template.5'}, qr/\.It Ic $key\n.*\n\.Pq $default \./,
	     "paddock-template(5) has the default of $key");
}

# The page lists the members of a template's table run.
{
	my $s = Paddock->new(templates => {keys => lua(<<'LUA')});
local names = run.array{}
for k, v in pairs(run) do
  if type(v) == "table" and k ~= "null" then
    for kk in pairs(v) do names[#names + 1] = "run." .. k .. "." .. kk end
  else names[#names + 1] = "run." .. k end
end
table.sort(names)
return names
LUA
	$s->init;
	page_has('paddock-template.5', @{$s->run_sync('keys')->{result}});
	$s->stop;
}

# mdoc removes quotation marks around a word of a macro's line: JSON in a macro needs \\&".
# Headings and words with blanks are quoted.
for my $name (sort keys %page) {
	my @eaten = grep { /^\.(?!\\")(?!S[hs] )/ && /(?:^|(?<=\s))"(?:[^"\s]*"|[^"]*"(?=\S))/ }
	    split /\n/, $page{$name};

	same_json(\@eaten, [], "$name keeps its quotation marks");
}

# The page as displayed, where a program displays manual pages.
SKIP: {
	skip_lacking(2, 'man');
	local $ENV{MANWIDTH} = 200;
	my $text = said('man', '-l', "$TOP/man/paddock-template.5") // '';

	skip 'man shows no page here', 2 if $text !~ /paddock-template/;
	like($text, qr/\{"id": 2, "ok": true, "value": \.\.\.\}/, 'an answer on descriptor 4 is JSON as it is read');
	like($text, qr/"writeOnly": true.*\["local"\]/s, 'values of the manifest in paddock-template(5) are JSON');
}

# Pages about the browser's hosts name the limits.
for my $name (qw(paddock.conf.5 paddock-template.5)) {
	like($page{$name}, qr/$_/, "$name tells of $_")
	    for 'ports 80, 443, 8080 and 8443', 'loopback and private networks', 'trust level', 'hosts';
}

SKIP: {
	skip_lacking(scalar keys %page, 'mandoc');
	for (sort keys %page) {
		is(said('mandoc', '-Tlint', '-W', 'warning', "$TOP/man/$_"), '',
		   "mandoc finds nothing wrong with $_");
	}
}

done_testing;
