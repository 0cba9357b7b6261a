#!/usr/bin/perl
# SPDX-License-Identifier: Apache-2.0
# The programs of etc/examples/codemode: each calls templates, and gives what its README says.
use lib 'tests/lib';
use Paddock;

my $AT = "$TOP/etc/examples/codemode";
my %TOOL = (py => 'run_python', mjs => 'run_node', sh => 'run_bash', lua => 'run_lua');
my %NEEDS = (run_python => ['python3'], run_node => ['node'], run_bash => ['perl'], run_lua => []);
my %csv = map { ("f$_.csv" => "a,b\n" . "$_,x\n" x $_) } 0 .. 9;
# name => [inputs, the printed text or result, names of artifacts]
my %EXAMPLES = (
	'report_ten_files.py' => [{files => \%csv}, join('', map { "f$_.csv: $_ rows, " . ($_ ? 'integer, string' : 'empty, empty') . "\n" } 0 .. 9)],
	'retry_with_fallback.py' => [{}, "word_count: 5 words\n"],
	'until_it_holds.py' => [{}, "check 1: 2 of 4 records fail\ncheck 2: 1 of 4 records fail\ncheck 3: 0 of 4 records fail\n"],
	'merge_to_csv.py' => [{}, "series,count,mean\nnorth,3,2.6666666666666665\nsouth,2,15.0\n", 'series.csv'],
	'pipeline.py' => [{}, "3 numbers, 31 in all\n"],
	'fan_out.mjs' => [{}, "780 words, 0 failures\n"],
	'versions.mjs' => [{}, "1 -> 2: +1 -0\n2 -> 3: +0 -1\n"],
	'compare_pages.mjs' => [{args => ['http://127.0.0.1:1/', 'http://127.0.0.1:2/']}, qr/\Ano page can be read: STEP_EXECUTION_FAILED: fewer than two pages came$/m],
	'parallel.sh' => [{files => {map { ("t$_.txt" => 'w ' x $_) } 1 .. 6}}, join('', map { qq(t$_.txt: "words":$_\n) } 1 .. 6)],
	'check_and_report.sh' => [{}, "kept\nstatus 4: paddock: there is no template \"no_such_template\"\n", 'check.json'],
	'columns.lua' => [{files => \%csv}, {map { ($_ => 2) } keys %csv}],
	'digest_parts.lua' => [{stdin => read_file("$TOP/etc/examples/access.log")}, qr/\A\d+ parts, [1-9]\d+ lines\n\z/],
);

my @there = sort grep { !/\AREADME\z/ } map { s{.*/}{}r } glob "$AT/*";
same_json(\@there, [sort keys %EXAMPLES], 'each example has its row');
my $readme = read_file("$AT/README") // '';
like($readme, qr/^    paddock run .*\@\Q$_\E\b/m, "the README says how to run $_") for @there;

my $s = Paddock->new(dirs => ["$TOP/etc/templates"])->greeted;
for my $name (@there) {
	my ($inputs, $want, @artifacts) = @{$EXAMPLES{$name}};
	my $tool = $TOOL{$name =~ s/.*\.//r};

	SKIP: {
		skip_lacking(3, map { @{$NEEDS{$_}} } $tool, 'run_python', 'run_bash', 'run_node');
		my $v = $s->run_sync($tool => {code => read_file("$AT/$name"), %$inputs});
		my $got = ref $want eq 'HASH' ? $v->{result}{result} : $v->{result}{stdout};

		is($v->{status}, 'succeeded', "$name: the run succeeds") or diag explain $v;
		ref $want eq 'Regexp' ? like($got // '', $want, "$name: the output is told") : same_json($got, $want, "$name: the output is told");
		same_json([map { $_->{name} } @{$v->{artifacts} // []}], \@artifacts, "$name: artifacts are kept");
	}
}
$s->stop;
done_testing;
