/* SPDX-License-Identifier: Apache-2.0 */
/*
 * schema_regex_property.c - translates ECMA-262's \p{Name} to PCRE2's names,
 * for schema_regex_atom.c. False: not the form of a property; PCRE2 tells at
 * compile time whether it has the property.
 */
#include "proto/schema/schema_private.h"

#include <ctype.h>
#include <string.h>

#include "base/mem.h"

/*
 * General categories by the long names of ECMA-262; PCRE2 has only short names.
 */
static const struct {
	const char *name;
	const char *pcre;
} categories[] = {
    {"Any", "Any"},
    {"Assigned", "^Cn"},
    {"Cased_Letter", "LC"},
    {"Close_Punctuation", "Pe"},
    {"Combining_Mark", "M"},
    {"Connector_Punctuation", "Pc"},
    {"Control", "Cc"},
    {"Currency_Symbol", "Sc"},
    {"Dash_Punctuation", "Pd"},
    {"Decimal_Number", "Nd"},
    {"Enclosing_Mark", "Me"},
    {"Final_Punctuation", "Pf"},
    {"Format", "Cf"},
    {"Initial_Punctuation", "Pi"},
    {"Letter", "L"},
    {"Letter_Number", "Nl"},
    {"Line_Separator", "Zl"},
    {"Lowercase_Letter", "Ll"},
    {"Mark", "M"},
    {"Math_Symbol", "Sm"},
    {"Modifier_Letter", "Lm"},
    {"Modifier_Symbol", "Sk"},
    {"Nonspacing_Mark", "Mn"},
    {"Number", "N"},
    {"Open_Punctuation", "Ps"},
    {"Other", "C"},
    {"Other_Letter", "Lo"},
    {"Other_Number", "No"},
    {"Other_Punctuation", "Po"},
    {"Other_Symbol", "So"},
    {"Paragraph_Separator", "Zp"},
    {"Private_Use", "Co"},
    {"Punctuation", "P"},
    {"Separator", "Z"},
    {"Space_Separator", "Zs"},
    {"Spacing_Mark", "Mc"},
    {"Surrogate", "Cs"},
    {"Symbol", "S"},
    {"Titlecase_Letter", "Lt"},
    {"Unassigned", "Cn"},
    {"Uppercase_Letter", "Lu"},
    {"cntrl", "Cc"},
    {"digit", "Nd"},
    {"punct", "P"},
};

static const struct {
	const char *key;
	const char *pcre; /* PCRE2's prefix; NULL: a general category */
} kinds[] = {
    {"General_Category=", NULL},
    {"gc=", NULL},
    {"Script=", "sc:"},
    {"sc=", "sc:"},
    {"Script_Extensions=", "scx:"},
    {"scx=", "scx:"},
};

static bool is_property_word(const char *p, size_t len)
{
	for (size_t i = 0; i < len; i++)
		if (!isalnum((unsigned char)p[i]) && p[i] != '_')
			return false;
	return len > 0;
}

bool schema_regex_property(struct schema_text *out, const char *p, size_t len)
{
	for (size_t i = 0; i < ARRAY_LEN(kinds); i++) {
		size_t n = strlen(kinds[i].key);

		if (len <= n || memcmp(p, kinds[i].key, n) != 0)
			continue;
		p += n;
		len -= n;
		schema_put(out, kinds[i].pcre != NULL ? kinds[i].pcre : "");
		break;
	}
	if (!is_property_word(p, len) || len > 40)
		return false;
	for (size_t i = 0; out->len == 0 && i < ARRAY_LEN(categories); i++)
		if (strlen(categories[i].name) == len &&
		    memcmp(categories[i].name, p, len) == 0) {
			schema_put(out, categories[i].pcre);
			return true;
		}
	schema_putf(out, "%.*s", (int)len, p); /* PCRE2 checks the name */
	return true;
}
