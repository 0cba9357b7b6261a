#!/usr/bin/perl
# SPDX-License-Identifier: Apache-2.0
# template_check.t - "paddock template check": all faults of a package at once, each with
# its place; as root and as nobody; shipped templates and the manual's examples are valid;
# and a hostile package does no harm.
use Encode qw(encode decode);
use lib 'tests/lib';
use Paddock;
use Cli;
use POSIX ();
use Time::HiRes qw(time);

my $cli = Cli->new;
my %user = as_root() ? (user => 65534) : ();
my $lua = "return function(run, inputs) return 1 end\n";
my $smallest = '"version": "1.0.0", "name": "n", "description": "d"';

chmod 0755, $cli->{root}, $cli->{here};

# The package NAME with FILES; template.json unless among the files: a program when the
# package has a main, else Lua, and more MEMBERS of the manifest.
sub package_of {
	my ($name, $members, %files) = @_;
	my $type = exists $files{main} ? '"program", "entry": "main"' : '"lua"';

	Paddock::remove_tree("$cli->{here}/$name") if -e "$cli->{here}/$name";
	$files{'main.lua'} //= $lua if !exists $files{main};
	$files{'template.json'} //= "{\"templateId\": \"$name\", $smallest,\n \"runtime\": {\"type\": $type}" .
	    ($members =~ /"inputsSchema"/ ? '' : ",\n \"inputsSchema\": {\"type\": \"object\"}") .
	    ($members ne '' ? ",\n $members" : '') . "}\n";
	write_file("$cli->{here}/$name/$_", $files{$_}) for sort keys %files;
	chmod 0755, "$cli->{here}/$name", "$cli->{here}/$name/main";
	return $name;
}

sub check { my ($name, @more) = @_; return $cli->run(['template', 'check', $name, @more]) }

# Check that the faults are exactly the given: "file:line:column: severity: text", as
# printed; and the same in JSON.
sub finds {
	my ($name, $what, @want) = @_;
	my $errors = grep { / error: / } @want;
	my $r = check($name);
	my $json = check($name, '--json');
	my $faults = eval { json_to($json->{out})->{faults} } // [];

	local $Test::Builder::Level = $Test::Builder::Level + 1;
	is($r->{err}, join('', map { "$name/$_\n" } @want), $what);
	is("$r->{status} $json->{status}", $errors ? '1 1' : '0 0', "$what: the exit status");
	is(join('', map {
		my $at = join ':', $_->{file} // (), $_->{line} // (), $_->{column} // ();

		"$_->{path}/$at: $_->{severity}: $_->{message}" . (($_->{pointer} // '') ne '' ? " ($_->{pointer})" : '') . "\n"
	    } @$faults), decode('UTF-8', $r->{err}), "$what: --json has the same faults");
	return $r;
}

# ---- Lua ----

finds(package_of(syntax => '', 'main.lua' => "return function(run, inputs)\n\tlocal x = = 1\nend\n"), 'a fault of syntax',
      "main.lua:2: error: Lua cannot compile this: unexpected symbol near '='");
finds(package_of(open => '', 'main.lua' => "return function(run, inputs)\n"), 'a function that does not end',
      "main.lua:2: error: Lua cannot compile this: 'end' expected (to close 'function' at line 1) near <eof>");
finds(package_of(empty => '', 'main.lua' => ''), 'no function',
      'main.lua: error: the file must return a function(run, inputs), but it returns nothing');
finds(package_of(value => '', 'main.lua' => "return {}\n"), 'something else',
      'main.lua: error: the file must return a function(run, inputs), but it returns a table');
finds(package_of(requires => '', 'main.lua' => "\nlocal j = require('json')\n$lua"), 'one that needs what there is not',
      "main.lua:2: error: it fails while it is loaded: attempt to call a nil value (global 'require')");
finds(package_of(raises => '', 'main.lua' => 'error({})'), 'one that raises no text',
      'main.lua: error: it fails while it is loaded: table');
finds(package_of(deep => '', 'src/code.lua' => "x = = 1\n", 'template.json' => "{\"templateId\": \"deep\", $smallest, " .
      '"runtime": {"type": "lua", "entry": "src/code.lua"}, "inputsSchema": {"type": "object"}}'), 'in a folder',
      "src/code.lua:1: error: Lua cannot compile this: unexpected symbol near '='");
{
	my $from = time;

	finds(package_of(loops => '', 'main.lua' => 'while true do end'), 'one that loops',
	      'main.lua: error: loading it does not end: it was stopped after 2 seconds of CPU time');
	cmp_ok(time - $from, '<', 60, '  ends all the same');
}
finds(package_of(eats => '', 'main.lua' => 'local t = {} for i = 1, 1e9 do t[i] = ("x"):rep(1e6) .. i end'), 'one that eats memory',
      'main.lua: error: it fails while it is loaded: not enough memory');
cmp_ok(length check(package_of(talks => '', 'main.lua' => 'error(("x"):rep(1e6))'))->{err}, '<', 1000, 'one that says much is cut short');
finds(package_of(text => '', 'main.lua' => "-- \xff\n"), 'no text',
      'main.lua:1:4: error: this is not text in UTF-8');
finds(package_of(lies => '', 'main.lua' => "load, pcall, type = nil, nil, function() return 'function' end\nreturn 7\n"),
      'one that would change the question', 'main.lua: error: the file must return a function(run, inputs), but it returns a number');

# ---- programs ----

for ([bsh => "#!/bin/bsh\n", 'main:1:1: error: the interpreter /bin/bsh of the #! line is not there; did you mean /bin/sh?'],
     [crlf => "#!/bin/sh\r\necho 1\r\n", 'main:1:10: error: the #! line ends with CR LF, as files of Windows do, so "/bin/sh" is ' .
      'looked for with a CR in its name; save the file with LF alone'],
     [envcrlf => "#!/usr/bin/env sh\r\n", 'main:1:18: error: the #! line ends with CR LF, as files of Windows do, so ' .
      '"/usr/bin/env sh" is looked for with a CR in its name; save the file with LF alone'],
     [unknown => "#!/usr/bin/nosuchthing-at-all\n", 'main:1:1: error: the interpreter /usr/bin/nosuchthing-at-all of the #! line is not there'],
     [elsewhere => "#!/usr/local/nowhere/sh\n", qr{main:1:1: error: the interpreter /usr/local/nowhere/sh of the #! line is not there; did you mean /(?:usr/)?bin/sh\?}],
     [env => "#!/usr/bin/env perll\n", 'main:1:1: error: the #! line has env look for perll, which is nowhere in the PATH of runs, ' .
      '/usr/local/bin:/usr/bin:/bin; did you mean perl?'],
     [flags => "#!/usr/bin/env perl -w\n", 'main:1:1: error: the #! line has env look for a program that is called "perl -w", blanks ' .
      'and all; env -S perl -w would take it apart'],
     [alone => "#!/usr/bin/env\n", 'main:1:1: error: the #! line does not tell env what to start'],
     [hidden => "#!/opt/tools/sh\n", 'main:1:1: error: the interpreter /opt/tools/sh of the #! line is nothing that a run sees: of ' .
      'the machine that is /usr, and what "readPaths" asks for'],
     [relative => "#!sh\n", 'main:1:1: error: the #! line has "sh", but an interpreter is named by its whole path, such as /bin/sh'],
     [none => "#! \n", 'main:1:1: error: the #! line names no interpreter'],
     [long => '#!/bin/sh ' . 'x' x 300, 'main:1:1: error: the #! line has more than 255 bytes, which the kernel does not read'],
     [late => "\n#!/bin/sh\n", 'main:1:1: error: #! has to be the first two bytes of the file'],
     [bom => "\xef\xbb\xbf#!/bin/sh\n", 'main:1:1: error: the file begins with a byte order mark, before which the kernel sees no #!; ' .
      'save it without'],
     [plain => "echo 1\n", 'main:1:1: error: this is no program: a script begins with #! and its interpreter, such as #!/bin/sh'],
     [nothing => '', 'main: error: the file is empty, and no program'],
     [cut => "\x7fELF", 'main: error: this program is cut short'],
     [folder => "#!/usr/bin/\n", qr{main:1:1: error: the interpreter /usr/bin/ of the #! line is not executable}]) {
	my ($name, $text, $want) = @$_;

	package_of($name => '', main => $text);
	if (ref $want) {
		like(check($name)->{err}, $want, "a program: $name");
	} else {
		finds($name, "a program: $name", $want);
	}
}
for ([sh => "#!/bin/sh\n"], [blank => "#! /bin/sh -e\n"], [envsh => "#!/usr/bin/env sh\n"], [split => "#!/usr/bin/env -S A=1 perl -w\n"],
     [unset => "#!/usr/bin/env -S -i -u HOME -C /tmp perl\n"], [quoted => "#!/usr/bin/env -S 'perl' -w\n"],
     [own => "#!/template/main2\n", main2 => "#!/bin/sh\n"]) {
	my ($name, $text, %more) = @$_;

	package_of($name => '', main => $text, %more);
	chmod 0755, "$cli->{here}/$name/main2";
	finds($name, "a good program: $name");
}
finds(package_of(ownless => '', main => "#!/template/main2\n"), 'an interpreter that the package has not',
      'main:1:1: error: the interpreter /template/main2 of the #! line is not there');
finds(package_of(above => '', main => "#!/template/../sh/main\n"), 'an interpreter beside the package',
      'main:1:1: error: the interpreter /template/../sh/main of the #! line is not there');
finds(package_of(besides => '', main => "#!/template/$cli->{here}/sh/main\n"), 'nor is an absolute path below it',
      "main:1:1: error: the interpreter /template/$cli->{here}/sh/main of the #! line is not there");
chmod 0644, "$cli->{here}/sh/main";
finds('sh', 'one that is not executable', 'template.json:2:42: error: main is not executable (chmod +x would do) (/runtime/entry)');
{
	my $elf = read_file("$BUILD/paddock");
	my $machine = unpack 'v', substr $elf, 18, 2;
	my $other = $machine == 183 ? 62 : 183;
	my ($loader) = $elf =~ m{(/lib[^\0]*/ld-[^\0]+)\0};

	package_of(elf => '', main => substr $elf, 0, 65536);
	finds('elf', 'a program for this machine');
	substr $elf, 18, 2, pack 'v', $other;
	package_of(arm => '', main => substr $elf, 0, 65536);
	like(check('arm')->{err}, qr{^arm/main: error: this program is for .+, and this machine is .+$}m, 'for another machine');
	substr $elf, 18, 2, pack 'v', $machine;
	my $musl = $loader =~ s{/ld-.}{/ld-_}r;
	$elf =~ s/\Q$loader\E/$musl/;
	package_of(musl => '', main => substr $elf, 0, 65536);
	like(check('musl')->{err}, qr{^musl/main: error: this program was linked for the loader \Q$musl\E, which is not there \(\Q$loader\E is\); linked statically it needs none$}m,
	     'a program whose loader is not there');
}

# ---- schemas ----

finds(package_of(schema => "\"inputsSchema\": {\"type\": \"object\", \"propertis\": {\"a\": 1},\n  \"requird\": [],\n" .
		 "  \"properties\": {\"propertis\": {\"type\": \"string\", \"format\": \"emial\", \"x-note\": 1, \"\$comment\": \"c\"},\n" .
		 "    \"\xc3\xa4\xc3\xb6\": {\"minLenght\": 1}}, \"required\": [\"nmae\"]},\n \"outputsSchema\": {\"typ\": \"object\"}"),
      'keywords, formats and names that are misspelt: warnings',
      'template.json:3:37: warning: "propertis" is no keyword of JSON Schema, so nothing is checked by it; did you mean "properties"? (/inputsSchema/propertis)',
      'template.json:4:3: warning: "requird" is no keyword of JSON Schema, so nothing is checked by it; did you mean "required"? (/inputsSchema/requird)',
      'template.json:5:60: warning: "emial" is no format of JSON Schema, so it says nothing; did you mean "email"? (/inputsSchema/properties/propertis/format)',
      "template.json:6:12: warning: \"minLenght\" is no keyword of JSON Schema, so nothing is checked by it; did you mean \"minLength\"? (/inputsSchema/properties/\xc3\xa4\xc3\xb6/minLenght)",
      'template.json:6:43: warning: "nmae" is required, but is none of the properties (/inputsSchema/required/0)',
      'template.json:7:20: warning: "typ" is no keyword of JSON Schema, so nothing is checked by it; did you mean "type"? (/outputsSchema/typ)');
is(check('schema')->{out}, "schema 1.0.0 is good, with 6 warnings\n", '  a schema with warnings is good');
finds(package_of(header => '"inputsSchema": {"type": "object", "properties": {"a": {"type": "string", "x-mcp-header": "Region"},' .
      "\n  \"b\": {\"type\": \"string\", \"x-mcp-header\": \"region\"}}}"), 'two arguments in one header',
      'template.json:4:43: error: "x-mcp-header" can be a name that no other property has, in whatever case ' .
      '(/inputsSchema/properties/b/x-mcp-header)');
finds(package_of(headers => '"inputsSchema": {"type": "object", "properties": {"a": {"type": "string", "x-mcp-header": "Region"}}}'),
      'an argument in a header');
finds(package_of(top => '"inputsSchema": {"$schema": "https://json-schema.org/draft/2020-12/schema", "type": "object", "oneOf": [{}], ' .
		 '"properties": {"a": {"oneOf": [{}]}}}, "outputsSchema": {"$schema": "http://json-schema.org/draft-07/schema#", "allOf": [{}]}'),
      'what hosts of models and clients refuse',
      'template.json:3:19: warning: "$schema" says what holds without it; paddock publishes it only for keywords that older drafts lack, since some clients refuse it (/inputsSchema/$schema)',
      'template.json:3:96: warning: "oneOf" at the top of the inputs is checked, but not shown to clients before MCP 2026-07-28, since hosts of models refuse it; what the properties\' descriptions say is all that those see (/inputsSchema/oneOf)',
      'template.json:3:168: warning: "$schema" names another dialect than MCP\'s, 2020-12, and some clients refuse it (/outputsSchema/$schema)');

# ---- modules ----

{
	my %lock = (main => "#!/bin/sh\n", 'requirements.txt' => '', 'package-lock.json' => '{}');

	finds(package_of(unbuilt => '', %lock), 'locks that nothing was built from',
	      'package-lock.json: warning: there is no node_modules/ with what this names; paddock template build fetches it',
	      'requirements.txt: warning: there is no site-packages/ with what this names; paddock template build fetches it');
	package_of(built => '', %lock, 'node_modules/a' => '', 'site-packages/a' => '');
	utime 1, 1, "$cli->{here}/built/site-packages";
	utime 1, 1, "$cli->{here}/built/package-lock.json";
	finds('built', 'a lock that is younger than what was built',
	      'requirements.txt: warning: this is younger than site-packages/, which may not have what it names; paddock template build fetches it');
}

# ---- all at once ----

finds(package_of(all => '"limitz": {}, "version2": 1, "taskSupport": "no", "inputsSchema": {"type": "object", "propertis": {}, ' .
		 '"properties": {"a": {"type": "strin"}, "b": {"minimum": "x"}}}', main => "#!/bin/bsh\n",
		 'tests/a.json' => "{\"inputs\": {},\n \"expect\": {\"status\": \"suceeded\", \"resutl\": 1}, \"x\": 1}", 'tests/b.json' => "{\n  \"a\": [1,]}",
		 'tests/c.json' => '[]', 'tests/d.json' => '{"inputs": {}}', 'tests/.hidden.json' => '', 'tests/README' => ''),
      'everything that is wrong, errors first',
      'template.json:3:2: error: unknown key "limitz"; did you mean "limits"? (/limitz)',
      'template.json:3:16: error: unknown key "version2"; did you mean "version"? (/version2)',
      'template.json:3:46: error: "taskSupport" is "no"; it must be "optional", "required" or "forbidden" (/taskSupport)',
      'template.json:3:133: error: "type" is "strin"; it must be array, boolean, integer, null, number, object or string, or an array of different ones of these (/inputsSchema/properties/a/type)',
      'template.json:3:160: error: "minimum" is "x"; it must be a number (/inputsSchema/properties/b/minimum)',
      'main:1:1: error: the interpreter /bin/bsh of the #! line is not there; did you mean /bin/sh?',
      'tests/a.json:2:23: error: no run ends so: a status is succeeded, partial_success, failed, canceled or refused; did you mean succeeded? (/expect/status)',
      'tests/a.json:2:35: error: unknown key "resutl"; did you mean "result"? (/expect/resutl)',
      'tests/b.json:2:11: error: this is not JSON: expected a value, found \']\'; the comma before it is one too many',
      'tests/c.json:1:1: error: a test is an object of "inputs" and "expect"',
      'tests/d.json:1:1: error: a test has "expect", an object of "status" and "result" or "errorCode" (/expect)',
      'template.json:3:87: warning: "propertis" is no keyword of JSON Schema, so nothing is checked by it; did you mean "properties"? (/inputsSchema/propertis)',
      'tests/a.json:2:49: warning: unknown key "x" (/x)');
finds(package_of(slashes => '"inputsSchema": {"type": "object", "a/b~": 1}, "prompts": [{"name": "p", "description": "d", ' .
		 '"complete": {"c/d": []}, "messages": [{"role": "user", "content": {"type": "text", "text": "t"}}]}]',
		 'tests/a.json' => '{"inputs": {}, "expect": {"g/h": 1}}'), 'names with what a pointer escapes',
      'template.json:3:115: error: "c/d" is none of the prompt\'s arguments (/prompts/0/complete/c~1d)',
      'tests/a.json:1:27: error: unknown key "g/h" (/expect/g~1h)',
      'template.json:3:37: warning: "a/b~" is no keyword of JSON Schema, so nothing is checked by it; a name that begins with x- may be used for notes (/inputsSchema/a~1b~0)');
finds(package_of(json => '', 'template.json' => "{\n\t\"a\": 1,\n\t\"b\": \"\xc3\xa4\" 2}\n"), 'a manifest that is not JSON',
      "template.json:3:11: error: this is not JSON: expected ',' or '}', found '2'");
finds(package_of(sad => '', 'template.json' => '{"runtime": {"type": "lua"}}', 'main.lua' => 'x ='), 'code is compiled though the manifest is wrong',
      (map { "template.json:1:1: error: the manifest lacks the member \"$_\"" } qw(description inputsSchema name templateId version)),
      'main.lua:1: error: Lua cannot compile this: unexpected symbol near <eof>');

# ---- several, none, and as whom ----

my $many = "$cli->{here}/many";
mkdir $many;
for my $name (qw(good syntax bsh)) {
	package_of($name => '') if $name eq 'good';
	rename "$cli->{here}/$name", "$many/$name";
}
{
	my $r = check('many');

	is($r->{out}, "good 1.0.0 is good\n", 'of several those that are good');
	is($r->{err}, "many/bsh/main:1:1: error: the interpreter /bin/bsh of the #! line is not there; did you mean /bin/sh?\n" .
	   "many/syntax/main.lua:2: error: Lua cannot compile this: unexpected symbol near '='\n", 'the faults of the other packages are told');
	is($r->{status}, 1, 'the status is that of the bad packages');
	is(json_to(check('many', '--json')->{out})->{templates}[0], 'good 1.0.0', 'the good packages are in the JSON');
	my $whole = check("$many/");
	like($whole->{err}, qr{^\Q$many\E/bsh/main:1:1: }, 'paths are as the folder was called');
	$r = $cli->run(['template', 'check', '.'], cwd => "$many/syntax");
	like($r->{err}, qr{^\./main\.lua:2: error: }, 'from within, too');
	$r = check('nowhere');
	is("$r->{status} $r->{err}", "4 paddock: nowhere: No such file or directory\n", 'what is not there');
	mkdir "$cli->{here}/hollow";
	$r = check('hollow');
	is("$r->{status} $r->{err}", "1 paddock: hollow: neither it nor a folder in it has a template.json\n", 'a folder without a package');
}
{
	my $r = $cli->run(['template', 'check', 'many'], %user, env => {TMPDIR => '/tmp'});

	is($r->{status}, 1, 'an ordinary user');
	like($r->{err}, qr{main\.lua:2: error: Lua cannot compile this}, 'gets the same');
	is($r->{out}, "good 1.0.0 is good\n", 'the good package is told to an ordinary user');
}
{
	my $r = $cli->run(['template', 'ls', '--templates', "$cli->{here}/all", '--state-dir', "$cli->{root}/state"]);

	like($r->{err}, qr{skipped .*all: template\.json:3:2: unknown key "limitz"; did you mean "limits"\? \(/limitz\); and 3 more, which paddock template check shows$}m,
	     'template ls says the first, by its place, and how many more');
}

for (['run', 'all'], ['template', 'show', 'all']) {
	my $r = $cli->run([@$_, '--templates', "$cli->{here}/all", '--state-dir', "$cli->{root}/state"]);

	said($r, 4, qr{^paddock: skipped .*/all: template\.json:3:2: unknown key "limitz"}m, "@$_: that it is there, and broken");
}

# ---- hostile packages ----

{
	my $evil = "\e[2Jevil\x{9b}31m\x{202e}\rFORGED";
	my $bytes = encode('UTF-8', $evil);

	package_of(evil => '', 'main.lua' => "error('$bytes')", "tests/$bytes.json" => "{\"inputs\": {}, \"expect\": {\"$bytes\": 1}, \"$bytes\": 2}" =~ s/[\x00-\x1f]/sprintf '\\u%04x', ord $&/ger,
		   "tests/\xff.json" => '{');
	my $r = $cli->run(['template', 'check', 'evil'], all_tty => 1, columns => 500);
	my $text = decode('UTF-8', $r->{err} =~ s/\r\n/\n/gr);

	unlike($text, qr/[\x00-\x08\x0b-\x1f\x7f-\x9f\x{202e}]|^FORGED/m, 'nothing acts on a terminal');
	like($text, qr/evil/, 'hostile words are shown');
	ok(eval { json_to(check('evil', '--json')->{out}) }, 'JSON is JSON');
	rename "$cli->{here}/evil", "$cli->{here}/evil\xff" or die $!;
	$r = check("evil\xff", '--json');
	ok(eval { json_to($r->{out}) }, '--json of a folder\'s name that is no text is JSON');
	is($r->{status}, 1, 'a package with a folder\'s name that is no text fails');
}
{
	my $from = time;

	package_of(flood => '"inputsSchema": {"type": "object", "required": [' . join(',', map { "\"q$_\"" } 1 .. 9_000) . '], "properties": {' .
		   join(',', map { "\"p$_\": {\"typ\": 1}" } 1 .. 9_000) . '}}');
	my $r = check('flood');
	is($r->{status}, 0, 'a flood of warnings');
	is(scalar(() = $r->{err} =~ /: warning: /g), 100, '  of which some are shown');
	like($r->{err}, qr/^paddock: flood: there is more than this, which is shown once some of it is mended$/m, '  a flood of warnings ends with a line on the rest');
	cmp_ok(time - $from, '<', 60, '  in no time');
	package_of(fifo => '');
	unlink "$cli->{here}/fifo/main.lua";
	POSIX::mkfifo("$cli->{here}/fifo/main.lua", 0644) or die "mkfifo: $!";
	POSIX::mkfifo("$cli->{here}/fifo/a", 0644) or die "mkfifo: $!";
	$r = check('fifo');
	is($r->{status}, 1, 'a FIFO is not waited for');
	like($r->{err}, qr{main\.lua is a FIFO, but must be a plain file}, '  a FIFO is told');
	package_of(linked => '');
	unlink "$cli->{here}/linked/main.lua";
	symlink '/etc/passwd', "$cli->{here}/linked/main.lua" or die $!;
	like(check('linked')->{err}, qr{main\.lua is a symbolic link}, 'a symbolic link is not followed');
}

# ---- what ships, what is made, and what the manuals show ----

for my $folder ('etc/templates', 'etc/selftest', "$BUILD/templates") {
	my $r = check($folder =~ m{^/} ? $folder : "$TOP/$folder");

	is($r->{err}, '', "$folder: nothing wrong");
	is($r->{status}, 0, "$folder: the status is 0");
	like($r->{out}, qr/ is good$/m, '  each');
}
$cli->run(['template', 'new', 'fresh']);
finds('fresh', 'what template new makes');

sub blocks { # of a Markdown file, by language
	my ($text, $language) = @_;

	return $text =~ /^```$language\n(.*?)^```$/msg;
}
{
	my $readme = read_file("$TOP/README.md");
	my ($code) = blocks($readme, 'lua');
	my ($manifest) = grep { /"templateId"/ } blocks($readme, 'json');
	my ($test) = grep { /"expect"/ } blocks($readme, 'json');

	finds(package_of(readme => '', 'main.lua' => $code, 'template.json' => $manifest, 'tests/a.json' => $test), 'what README.md shows');
	my $man = read_file("$TOP/man/paddock-template.5");
	my @literal = $man =~ /^\.Bd -literal -offset indent\n(.*?)^\.Ed$/msg;
	my ($lines) = grep { /^\{"progress"/ } @literal;
	($code) = grep { /^return function/ } @literal;
	($test) = grep { /^\{"inputs"/ } @literal;
	s/\\e/\\/g for $code, $test;
	finds(package_of(manual => '', 'main.lua' => $code, 'tests/a.json' => $test), 'what paddock-template(5) shows');
	ok((!grep { !eval { json_to($_) } } split /\n/, $lines), 'the lines of JSON in paddock-template(5) are JSON');
}
is(join(' ', glob "$cli->{root}/paddock-test-*"), '', 'nothing is left behind');
done_testing();
