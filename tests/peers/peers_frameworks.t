#!/usr/bin/perl
# SPDX-License-Identifier: Apache-2.0
# peers_frameworks.t - clients that exist: those of frameworks, and bridges.
use lib 'tests/lib';
use Paddock;
use Http qw(sha256_hex);
use Peer;

my @OVER_HTTP = qw(ai-sdk langchain openai-agents mastra mcp-use genkit mcp-remote
		   supergateway);

peer_http('frameworks_http', config => "[limits]\nmax_concurrent_runs = 16\n",
	  tokens => {map { $_ => sha256_hex($_) } @OVER_HTTP});
peer_stdio('frameworks_stdio', dirs => ["$TOP/etc/templates"]);
done_testing();
