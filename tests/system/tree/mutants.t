#!/usr/bin/perl
# SPDX-License-Identifier: Apache-2.0
# mutants.t - each mutant of tests/mutate/*.list can still be applied, and the named tests
# exist; make mutate runs the tests. MutantMaker's bugs for a text are right, and the same
# for a seed.
use strict;
use warnings;
use lib 'tests/lib';
use File::Temp;
use Mutant;
use MutantMaker;
use Test::More;

sub read_file { open my $f, '<:raw', $_[0] or return undef; local $/; return scalar <$f> }

my @all = mutants_read(sort glob 'tests/mutate/*.list');
my %seen;

cmp_ok(scalar @all, '>=', 150, 'there are 150 bugs and more');
for my $m (@all) {
	my $text = read_file($m->{file});

	ok(defined $text && eval { mutant_apply($m, $text) } && !$seen{"$m->{file} $m->{name}"}++,
	   "$m->{file}: $m->{name}") or diag($@);
}
for my $want (qw(t_run_shown tell_progress)) {
	ok((grep { mutant_matches($_, $want) } @all), "a test or a function means its bugs: $want");
}

my $list = File::Temp->new;

print $list "== x\nproto/x.c f\n-a\n+b\nby t_of_nothing\n";
close $list;
is(eval { mutants_read("$list"); 1 } // $@, "$list:1: there is not one test t_of_nothing\n", 'a test that is not there ends all');

my $text = <<'C';
#define LESS(a, b) ((a) < (b))
/* if (a) f(); */
static int first(struct x *x, int n)
{
	if (x == NULL)
		return -1;
	log_write("a < b && c");
	if (is_full(x) && n > 1)
		return grow(x, n + 1);
	x->n = n;
	told(x->n,
	     n);
	free(x);
	return 0;
}
C
my @made = mutants_of('base/x.c', $text);
my $told = join '', map { join(' | ', @$_{qw(line function kind)}, map { s/\s+/ /gr =~ s/^ //r } @$_{qw(old new)}) . "\n" } @made;

is($told, <<'END', 'each bug that a text can have is made once, and none of comments, strings and macros');
5 | first | an error ignored | if (x == NULL) return -1; | ;
5 | first | a condition turned round | == | !=
7 | first | a call left out | log_write("a < b && c") | (void)0
8 | first | an error ignored | if (is_full(x) && n > 1) return grow(x, n + 1); | ;
8 | first | a condition turned round | (is_full(x) && n > 1) | (!(is_full(x) && n > 1))
8 | first | a condition turned round | && | ||
8 | first | off by one | > | >=
9 | first | off by one | 1 | 0
10 | first | an order swapped | x->n = n; told(x->n, n); | told(x->n, n); x->n = n;
11 | first | a call left out | told(x->n, n) | (void)0
END
my $unseen = <<'C';
static void first(struct x *x)
{
	_Static_assert(A, "one size");
	TAILQ_INIT(&x->a);
	LIST_INIT(&x->b);

	log_info("x", "n=%d", x->n);
	x->told = true;

	take(x);
	log_warn("x", "taken=yes");
}
C
is_deeply([map { $_->{new} } grep { $_->{new} ne '(void)0' || $_->{old} =~ /^_/ } mutants_of("base/x.c", $unseen)], [],
          'no bug is made of the order of a log line or of two beginnings of lists, nor of a check at compile time');
is_deeply([mutants_sample(3, 4, @made)], [mutants_sample(3, 4, @made)], 'a seed draws the same sample again');
isnt("@{[map { $_->{at} } mutants_sample(3, 4, @made)]}", "@{[map { $_->{at} } mutants_sample(4, 4, @made)]}",
     'another seed draws another sample');
my $same = File::Temp->new;

print $same "# why\nbase/x.c first: && => ||: n is never 1 here\n";
close $same;
is_deeply([map { mutants_equivalent("$same")->($_) // () } @made], ['n is never 1 here'], 'a bug that changes nothing is known by its place and text');
my @twice = mutants_of('base/x.c', "int f(int a)\n{\n\treturn a < 1 || a < 2 || g(a < 3);\n}\n");
my $second = File::Temp->new;

print $second "base/x.c f/2: < => <=: why\n";
close $second;
is_deeply([map { mutants_equivalent("$second")->($_) // 0 } grep { $_->{old} eq '<' } @twice], [0, 'why', 0], 'one of several alike by which of them it is');
ok(eval { mutants_equivalent('tests/mutate/equivalent'); 1 }, 'the list of bugs that change nothing can be read');
is_deeply([mutants_tests('base/x.c', 4, sub { $_[0] =~ /^[tn]_x/ }, {'base/x.c' => [qw(n_x gone.t)]}, {file => 'base/y.c', by => [qw(t_y a.t)]},
                         {file => 'base/x.c', by => ['b.t']}, {file => 'base/z.c', by => [qw(a.t c.t)]})], [qw(t_x n_x b.t a.t)],
          'the tests of a bug are those of its file, then those of its folder by how often they notice');
is_deeply([mutants_tests('a/b/x.c', 4, sub { $_[0] =~ /^n_/ }, {'a/' => ['n_a'], 'a/b/' => ['n_b'], 'a/b/x.c' => ['n_x']},
                         {file => 'a/b/y.c', by => ['n_y']})], [qw(n_x n_b n_y)], 'between them those of the nearest folder above');
my $near = mutants_near('tests/mutate/near');

is_deeply([grep { !(m{/\z} ? -d : -f) } keys %$near], [], 'each file and folder whose tests are known is there');
is_deeply([grep { !mutant_test($_) } map { @$_ } values %$near], [], 'each known test is there');
done_testing();
