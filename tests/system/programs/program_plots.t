#!/usr/bin/perl
# SPDX-License-Identifier: Apache-2.0
# The files in /etc of Debian's matplotlib and fonts are in the cage of run_python as outside:
# the bytes of each file of the packages, the resulting settings, a plot without a warning.
use lib 'tests/lib';
use Paddock;
use Digest::SHA qw(sha256_hex);

needs('python3');
plan skip_all => 'matplotlib is not installed (apt install python3-matplotlib)' if system('/usr/bin/python3 -c "import matplotlib" 2>/dev/null') != 0;

# Settings, the default font and the types of files: results of files in /etc.
my $SETTINGS = <<'END';
import json, matplotlib, mimetypes, subprocess, sys
rc = {key: str(value) for key, value in matplotlib.rcParams.items() if not key.startswith('backend')}
match = subprocess.run(['fc-match', 'sans-serif'], capture_output=True, text=True) if subprocess.run(['which', 'fc-match'], capture_output=True).returncode == 0 else None
told = {'file': matplotlib.matplotlib_fname(), 'rc': rc, 'font': match and [match.stdout, match.stderr], 'type': mimetypes.guess_type('a.odt')}
END

my $PLOT = <<'END';
import logging, warnings
logging.basicConfig(level=logging.WARNING)
warnings.simplefilter('always')
import matplotlib.pyplot as plt
fig, axes = plt.subplots()
for family in 'sans-serif', 'serif', 'monospace':
    axes.plot([1, 3, 2], label=family)
    axes.text(1, 2, 'Gr\u00f6\u00dfe \u2211 \u03b1\u03b2', family=family)
axes.set_title(r'$\frac{a}{b}$')
axes.legend()
plt.savefig('out/plot.svg')
plt.savefig('out/plot.pdf')
plt.show()
END

# The plain files and links in /etc of matplotlib's packages and of fonts.
sub files_of_packages {
	my @all = grep { /^(?:python-matplotlib-data|fontconfig-config|fonts-\S+|media-types|libpython3\S*-minimal)$/ } map { s/:.*//r } split /\n/, `dpkg-query -W -f '\${Package}\\n' 2>/dev/null`;
	my %seen;

	return grep { m{^/etc/} && -f && !$seen{$_}++ } split /\n/, @all ? `dpkg-query -L @all 2>/dev/null` : '';
}

my $home = Paddock::fresh_root();
my $outside = json_to(`HOME=$home LC_ALL=C.UTF-8 /usr/bin/python3 -c "$SETTINGS\nprint(json.dumps(told))"`);
my @files = files_of_packages();

for (users()) {
	my ($who, $user) = @$_;
	my $s = Paddock->new(user => $user, dirs => ['etc/templates'])->greeted;
	my $r = $s->run_sync(run_python => {code => "$SETTINGS\njson.dump(told, open('result.json', 'w'))"});

	same_json($r->{result}{result}, $outside, "$who: matplotlib's settings, its font and the types of files are those of the machine") or diag explain $r;
	is($r->{result}{stderr}, '', "$who: no setting is missing");
	$r = $s->run_sync(run_python => {code => $PLOT});
	is($r->{result}{stderr} =~ s/^.*building the font cache; this may take a moment.*\n//mr, '', "$who: a plot has no warning");
	is_deeply([sort map { $_->{name} } @{$r->{artifacts}}], ['figure-1.png', 'plot.pdf', 'plot.svg'], "$who: a plot in three formats");
  SKIP: {
		skip 'no packages of Debian here', 1 if !@files;
		my %want = map { $_ => sha256_hex(read_file($_)) } @files;

		$r = $s->run_sync(run_python => {args => \@files, code => "import hashlib, json, os, sys\njson.dump({f: hashlib.sha256(open(f, 'rb').read()).hexdigest() if os.path.exists(f) else None for f in sys.argv[1:]}, open('result.json', 'w'))"});
		same_json($r->{result}{result}, \%want, "$who: each file of the packages in /etc has its bytes") or diag explain $r->{result}{stderr};
	}
	$s->stop;
}
done_testing;
