#!/usr/bin/perl
# SPDX-License-Identifier: Apache-2.0
# A helper that does not answer: readyz and the profile say so in the words of the cause.
use lib 'tests/lib';
use Paddock;
use Http;
use File::Copy qw(copy);

my $folder = Paddock::fresh_root();
copy("$BUILD/$_", "$folder/$_") or BAIL_OUT("$_: $!") for qw(paddockd paddock-worker);
write_file("$folder/$_", "#!/bin/sh\nexit 3\n") for qw(chromium paddock-browser);
chmod 0755, map { "$folder/$_" } qw(paddockd paddock-worker paddock-browser chromium);
my $s = Http->new(build => $folder, templates => {echo => lua('return 1')},
	config => "[browser]\nchromium = $folder/chromium\n");
my $ready = sub { return $s->fetch(GET => '/readyz') };
my $c = Client->new($s)->greeted;
my $row = sub { my ($name) = @_; return (grep { $_->{name} eq $name } $c->tool('get_runtime_profile')->{view}{health}{checks}->@*)[0] };

is($row->('the browser')->{verdict}, 'well', 'nothing is known of a browser that nobody needed');
$c->tool('create_tab' => {});
my $it = $row->('the browser');
is($it->{verdict}, 'warning', 'one that does not come up is a warning');
is($it->{says}, 'paddock-browser ends before it has answered; the server\'s log may say why', '  in the words of the cause');
like($ready->()->{json}{warning}, qr/paddock-browser ends before it has answered/, '  readyz warns of the broker that ends');

SKIP: {
	skip_lacking(4, 'root');
	my ($keeper) = grep { (read_file("/proc/$_/comm") // '') =~ /^paddock-keeper/ }
	    split ' ', join ' ', map { read_file($_) } glob "/proc/$s->{pid}/task/*/children";
	is($row->('the process that keeps root\'s rights')->{verdict}, 'well', 'the process that keeps root is well');
	ok($keeper && kill(KILL => $keeper), 'the keeper of root\'s rights is killed');
	ok(until_true('it to be missed', sub { $row->('the process that keeps root\'s rights')->{verdict} eq 'warning' }), 'the missing keeper is a warning');
	like($row->('the process that keeps root\'s rights')->{says}, qr/^the process that keeps root's rights has ended/, '  in the words of the cause');
	$s->{kept_socket} = 1; # that process would have removed it
}
my $all = $ready->()->{json};
ok((grep { /paddock-browser ends/ } $all->{warnings}->@*) && (grep { /keeps root's rights/ } $all->{warnings}->@*) || !as_root(), 'readyz tells all of them');
is($all->{warning}, $all->{warnings}[0], '  the first warning of readyz stands alone as well');
$s->stop;
done_testing;
