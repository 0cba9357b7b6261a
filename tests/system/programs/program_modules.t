#!/usr/bin/perl
# SPDX-License-Identifier: Apache-2.0
# Modules of a program: the package's own modules are found without any setting, and a
# missing module is reported with a remedy.
use lib 'tests/lib';
use Paddock;

my %templates = (
    py => {program => "#!/usr/bin/python3\nimport ours.part, os, json, sys\n"
	       . "print(json.dumps([ours.part.SAYS, os.environ['PYTHONPATH'], 'ran' in sys.modules]))\n"},
    cjs => {runtime => {type => 'program', entry => 'main.cjs'}},
    esm => {runtime => {type => 'program', entry => 'main.mjs'}},
    bare => {program => "#!/bin/sh\nenv | sed 's/=.*//' | sort | tr '\\n' ' ' | sed 's/.*/\"&\"/'\n"},
    py_lacks => {program => "#!/usr/bin/python3\nimport no_such_module_here\n"},
    py_part => {program => "#!/usr/bin/python3\nimport json.none\n"},
    py_other => {program => "#!/usr/bin/python3\ntry:\n  import no_such\nexcept ImportError:\n  {}['key']\n"},
    cjs_lacks => {program => "#!/usr/bin/env node\nrequire('no-such-package/part')\n"},
    esm_lacks => {runtime => {type => 'program', entry => 'main.mjs'}},
);
my $s = Paddock->new(templates => \%templates, idle => 1);
my $at = "$s->{root}/templates";

sub program {
	my ($path, $text) = @_;

	write_file("$at/$path", $text);
	chmod 0755, "$at/$path";
}

write_file("$at/py-1.0.0/site-packages/ours/__init__.py", '');
write_file("$at/py-1.0.0/site-packages/ours/part.py", "SAYS = 'ours'\n");
write_file("$at/py-1.0.0/site-packages/evil.pth", "import sys; sys.modules['ran'] = sys\n");
for my $t (qw(cjs esm)) {
	my $own = "$at/$t-1.0.0/node_modules";

	write_file("$own/ours/package.json", '{"name": "ours", "version": "1.0.0", "main": "main.js"}');
	write_file("$own/ours/main.js", "exports.says = require('under').says;\n");
	write_file("$own/ours/node_modules/under/index.js", "exports.says = 'under ours';\n");
}
program('cjs-1.0.0/main.cjs', "#!/usr/bin/env node\nconsole.log(JSON.stringify(require('ours').says))\n");
program('esm-1.0.0/main.mjs', "#!/usr/bin/env node\nimport ours from 'ours';\nconsole.log(JSON.stringify(ours.says));\n");
program('esm_lacks-1.0.0/main.mjs', "#!/usr/bin/env node\nimport x from '\@no/such';\n");
# as many files as in common packages
write_file("$at/cjs-1.0.0/node_modules/many/" . int($_ / 100) . "/$_.js", "exports.x = $_;\n") for 1 .. 3000;
$s->start;
$s->init;

# ---- what there is ----

SKIP: {
	skip_lacking(6, 'python3', 'node');
	my $found = $s->tool('get_runtime_profile')->{view}{interpreters};
	my $modules = $found->{python}{modules};

	is($found->{python}{version}, `/usr/bin/python3 -c 'import sys; print(sys.version.split()[0], end="")'`,
	   'the profile has the version of Python that programs find');
	is("v$found->{node}{version}\n", `/usr/bin/env PATH=/usr/local/bin:/usr/bin:/bin node --version`, 'the profile has the version of Node.js');
	like("$found->{bash}{version} $found->{lua}{version}", qr/^\d+\.[\d.]+ 5\.4\.\d+$/, 'the profile has the versions of bash and Lua');
	is_deeply([grep { !/^[A-Za-z]\w*$/ || $_ eq 'ours' || $_ eq 'json' } @$modules], [],
	   'the profile has the modules of the machine, none of Python\'s own');
	is_deeply($s->tool('get_runtime_profile')->{view}{interpreters}, $found, 'the profile is the same when asked again');
	kill HUP => $s->{pid};
	$s->log_has(qr/reload=done/);
	is_deeply($s->tool('get_runtime_profile')->{view}{interpreters}, $found, 'the profile has the modules after a reload');
}

# ---- what a package brings, and what is missing ----

SKIP: {
	skip_lacking(8, 'python3');
	is_deeply($s->run_sync('py')->{result}, ['ours', '/template/site-packages:/paddock/python', JSON::PP::false()],
		  'Python imports what lies in site-packages/, and does what no .pth says');
	is($s->run_sync('bare')->{result}, 'HOME LANG PADDOCK_RUN_ID PADDOCK_TEMPLATE_DIR PATH PWD PYTHONPATH TMPDIR ',
	   'no package without that has it in its environment');
	my $e = $s->run_sync('py_lacks')->{error};

	is($e->{errorCode}, 'EXECUTION_ERROR', 'an import that fails');
	like($e->{message}, qr/exited with status 1, since it found no module no_such_module_here: /, 'a failed import names the module');
	like($e->{message}, qr/python3-no-such-module-here; .*requirements\.txt.*paddock template build/, 'a failed import names two cures');
	like($e->{details}{stderr}, qr/line 2/, 'the error of a failed import has the line');
	like($s->run_sync('py_part')->{error}{message}, qr/status 1: ModuleNotFoundError: .*json\.none/, 'a part of one that is there has none');
	like($s->run_sync('py_other')->{error}{message}, qr/status 1: KeyError: 'key'$/, 'a caught import error has no hint');
}

SKIP: {
	skip_lacking(4, 'node');
	is($s->run_sync('cjs')->{result}, 'under ours', 'require() finds node_modules/, among thousands of files');
	is($s->run_sync('esm')->{result}, 'under ours', 'import finds node_modules/');
	like($s->run_sync('cjs_lacks')->{error}{message}, qr/found no module no-such-package: .*package-lock\.json.*paddock template build/,
	     'a package that require() does not find is told with its cure');
	like($s->run_sync('esm_lacks')->{error}{message}, qr{found no module \@no/such: .*package-lock\.json}, 'a package that import does not find is told with the cure');
}
$s->stop;

# A server without programs starts no program to look for interpreters.
$s = Paddock->new(templates => {lua => lua('return 1')})->greeted;
is_deeply([keys %{$s->tool('get_runtime_profile')->{view}{interpreters}}], ['lua'], 'without programs there is Lua');
$s->stop;
done_testing();
