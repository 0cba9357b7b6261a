#!/usr/bin/perl
# SPDX-License-Identifier: Apache-2.0
# The template-run contract by examples: each example is valid by the schema of the tool or
# template, and invalid after a change of a member's type.
use lib 'tests/lib';
use Paddock;

my $root = Paddock::fresh_root();
write_file("$root/chromium", "#!/bin/sh\n"); # is never started
chmod 0755, "$root/chromium";
my $s = Paddock->new(dirs => ["$TOP/etc/templates"],
		     config => "[browser]\nchromium = $root/chromium\n")->greeted;

my %schemas = (
    tool => {map { $_->{name} => {input => $_->{inputSchema}, output => $_->{outputSchema}} }
	     @{$s->call('tools/list')->{result}{tools}}},
    template => {map { $_->{templateId} => {inputs => $_->{inputsSchema}, outputs => $_->{outputsSchema}} }
		 @{$s->tool('list_task_templates')->{view}{templates}}});
my $examples = json_to(read_file('tests/system/runs/contract_examples.json'));
my %left = map { $_ => 1 }
    (map { my $tool = $_; map { "$tool $_" } qw(input output) }
     qw(get_runtime_profile list_task_templates run_task_template get_task_run list_task_runs
	cancel_task_run get_artifact
	create_tab navigate wait_for_stable get_page_info get_page_content close_tab)),
    (map { my $id = $_; map { "$id $_" } qw(inputs outputs) }
     qw(batch_extract_pages login_keep_session multi_tab_compare));

# The verdict of paddock's own validator.
sub verdict {
	my ($schema, $v) = @_;

	write_file("$root/schema.json", json_of($schema));
	write_file("$root/value.json", json_of($v));
	return qx($BUILD/paddock schema $root/schema.json $root/value.json 2>&1);
}

for (@$examples) {
	my ($side, $v) = @$_{qw(side example)};
	my $of = $_->{tool} ? 'tool' : 'template';
	my $name = $_->{$of};
	my $schema = $schemas{$of}{$name}{$side};

	if ($side eq 'refusal') {
		same_json([sort keys %$v], [qw(details error errorCode recoverHint)],
			  'a refusal has these parts');
		next;
	}
	delete $left{"$name $side"};
	subtest "$name, $side" => sub {
		ok($schema, 'the outputSchema or inputSchema is declared') or return;
		is(join('; ', schema_errors($schema, $v)), '', 'an example is valid');
		like(verdict($schema, $v), qr/: valid$/, 'paddock says so, too');
		my @other = map { {%$v, $_ => ref $v->{$_} eq 'ARRAY' ? {} : []} }
		    grep { $_ ne 'result' } sort keys %$v; # which is a template's own
		is(scalar(grep { !schema_errors($schema, $_) } @other), 0,
		   'an example with any member of another type is invalid');
		return unless $side =~ /^input/;
		ok(scalar schema_errors($schema, {%$v, colour => 'blue'}), 'an example with one more member is invalid');
	};
}
is(join(', ', sort keys %left), '', 'each has an example');

$s->stop;
done_testing;
