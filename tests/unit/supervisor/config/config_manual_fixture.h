/* SPDX-License-Identifier: Apache-2.0 */
/* config_manual_fixture.h - what the manual has of the configuration's keys. */
#ifndef TESTS_UNIT_CONFIG_MANUAL_FIXTURE_H
#define TESTS_UNIT_CONFIG_MANUAL_FIXTURE_H

#include <stdio.h>

/* The keys for paddock.conf(5): a list in mdoc(7). */
void help_config_manual(FILE *out);

#endif
