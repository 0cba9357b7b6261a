# SPDX-License-Identifier: Apache-2.0
# Stateless.pm - params of a request of MCP 2026-07-28, which brings its terms.
package Stateless;

use strict;
use warnings;

use Exporter 'import';

our @EXPORT = qw(stateless $TASKS);
our $TASKS = 'io.modelcontextprotocol/tasks';

# PARAMS with the terms of a client that has CAPABILITIES; META: more of _meta.
sub stateless {
	my ($params, $capabilities, $meta) = @_;
	my $at = 'io.modelcontextprotocol';

	return {%{$params // {}}, _meta => {
		"$at/protocolVersion" => '2026-07-28',
		"$at/clientInfo" => {name => 'test', version => '1'},
		"$at/clientCapabilities" => $capabilities // {},
		%{$meta // {}}}};
}

1;
