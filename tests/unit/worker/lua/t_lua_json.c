/* SPDX-License-Identifier: Apache-2.0 */
/* What templates return, and decode. */
#include "tests/unit/worker/lua/lua_job_fixture.h"

const struct usual usual = {.memory = 8 * MIB, .grace_ms = 300, .cpu_ms = 1500};

static const struct trial results[] = {
    {.name = "an empty template's result is null", T(""), "VALUE:null"},
    {.name = "a table comes back with its keys sorted",
     T("return {b = 1, a = {true, false, run.null}, c = 'x'}"),
     "VALUE:{\"a\":[true,false,null],\"b\":1,\"c\":\"x\"}"},
    {.name = "so do many keys",
     T("local o, keys = {}, {} for i = 1, 3000 do o['k' .. i * 7919 % 3001] = i end "
       "for k in run.json.encode(o):gmatch('\"(k%d+)\"') do keys[#keys + 1] = k end "
       "for i = 2, #keys do if keys[i - 1] >= keys[i] then return i end end "
       "return {#keys, keys[1], keys[3000]}"),
     "VALUE:[3000,\"k1\",\"k999\"]"},
    {.name = "inputs arrive",
     T("return {inputs.n + 1, inputs.s, inputs.list[2]}"),
     "VALUE:[42,\"ä\",false]",
     "{\"n\":41,\"s\":\"ä\",\"list\":[null,false]}"},
    {.name = "inputs go back as they came",
     T("return inputs"),
     "VALUE:{\"a\":[],\"b\":{},\"c\":null,\"d\":[[]],\"e\":1.5}",
     "{\"a\":[],\"b\":{},\"c\":null,\"d\":[[]],\"e\":1.5}"},
    {.name = "an empty table is an object", T("return {}"), "VALUE:{}"},
    {.name = "run.array makes it an array",
     T("return {run.array{}, run.array()}"),
     "VALUE:[[],[]]"},
    {.name = "an array that was decoded and emptied is one still",
     T("local a = run.json.decode('[1]') a[1] = nil return a"),
     "VALUE:[]"},
    {.name = "integers keep 64 bits",
     T("return {math.maxinteger, math.mininteger}"),
     "VALUE:[9223372036854775807,-9223372036854775808]"},
    {.name = "an integral double is written as an integer",
     T("return {10 / 2, 1e15}"),
     "VALUE:[5,1000000000000000]"},
    {.name = "doubles are as short as they can be",
     T("return {0.1, 1/3, 1e300, -0.0, 2^53}"),
     "VALUE:[0.1,0.3333333333333333,1e+300,-0,9007199254740992]"},
    {.name = "control characters and quotes are escaped",
     T("return 'a\\0\\n\\t\\\"\\\\/\\127'"),
     "VALUE:\"a\\u0000\\n\\t\\\"\\\\/\x7f\""},
    {.name = "a big result takes several chunks",
     T("return ('x'):rep(200000)"),
     "VALUE:\"xx...200002...xx\""},
    {.name = "a result over the limit is refused with its size",
     T("return ('x'):rep(200)"),
     "FAIL:RESOURCE_LIMIT:the result is larger than it may be:"
     "{\"limit\":\"output_bytes\",\"used\":202,\"allowed\":201,"
     "\"unit\":\"bytes\",\"whoCanRaise\":\"template limits.maxOutputBytes, or "
     "the server's [limits]\"}",
     .output = 201},
    {.name = "a result at the limit passes",
     T("return ('x'):rep(8)"),
     "VALUE:\"xxxxxxxx\"",
     .output = 10},
    {.name = "run.reply is passed on",
     T("return run.reply{content = {{type = 'text', text = 'hi'}}, "
       "structuredContent = {a = 1}, isError = true}"),
     "REPLY:{\"content\":[{\"text\":\"hi\",\"type\":\"text\"}],"
     "\"isError\":true,\"structuredContent\":{\"a\":1}}"},
    {.name = "an empty content of a reply is an array",
     T("return run.reply{content = {}}"),
     "REPLY:{\"content\":[]}"},
    {.name = "run.reply refuses other keys",
     T("return run.reply{text = 'hi'}"),
     "FAIL:EXECUTION_ERROR:main.lua:1: run.reply takes content, *"},
    {.name = "run.reply refuses a content that is no list",
     T("return run.reply{content = 'hi'}"),
     "FAIL:EXECUTION_ERROR:main.lua:1: run.reply: content *"},
    {.name = "keys that are added to a reply are dropped",
     T("local r = run.reply{isError = false} r.x = 1 return r"),
     "REPLY:{\"isError\":false}"},
    {.name = "a reply inside of a value is a value",
     T("return {run.reply{isError = false}}"),
     "VALUE:[{\"isError\":false}]"},
};

static const struct trial no_json[] = {
    {.name = "a function is no result",
     T("return {rows = {1, {f = print}}}"),
     "FAIL:EXECUTION_ERROR:a function cannot be JSON, at /rows/1/f:"},
    {.name = "NaN is no result",
     T("return 0/0"),
     "FAIL:EXECUTION_ERROR:a NaN cannot be JSON:"},
    {.name = "nor is infinity",
     T("return {x = -1/0}"),
     "FAIL:EXECUTION_ERROR:an infinite number cannot be JSON, at /x:"},
    {.name = "a table with holes is neither list nor object",
     T("return {[1] = 1, [2] = 2, [4] = 4}"),
     "FAIL:EXECUTION_ERROR:a table with 3 integer keys from 1 to 4 *"},
    {.name = "a key of 2^53 is no list's",
     T("return {[1 << 53] = 1}"),
     "FAIL:EXECUTION_ERROR:a table with 1 integer keys from "
     "9007199254740992 to *"},
    {.name = "keys must not be mixed",
     T("return {1, 2, x = 3}"),
     "FAIL:EXECUTION_ERROR:a table with both integer keys and named *"},
    {.name = "a marked array has no named fields",
     T("return {a = run.array{x = 3}}"),
     "FAIL:EXECUTION_ERROR:an array with named fields cannot be JSON, at /a:"},
    {.name = "a key must be a string",
     T("return {[true] = 1}"),
     "FAIL:EXECUTION_ERROR:a table with a key of type boolean *"},
    {.name = "a result that contains itself is refused",
     T("local t = {} t.a = {t} return t"),
     "FAIL:EXECUTION_ERROR:a table that contains itself cannot be JSON, at "
     "/a/0:"},
    {.name = "the same table twice is fine",
     T("local t = {1} return {t, t}"),
     "VALUE:[[1],[1]]"},
    {.name = "64 levels pass",
     T("local t = 1 for i = 1, 64 do t = {t} end "
       "return #run.json.encode(t)"),
     "VALUE:129"},
    {.name = "65 levels do not",
     T("local t = 1 for i = 1, 65 do t = {t} end return t"),
     "FAIL:EXECUTION_ERROR:a table more than 64 levels deep *"},
    {.name = "bytes that are not UTF-8 are refused",
     T("return {s = '\\xff'}"),
     "FAIL:EXECUTION_ERROR:a string that is not UTF-8 *at /s:"},
    {.name = "in keys as well",
     T("return {['\\xff'] = 1}"),
     "FAIL:EXECUTION_ERROR:a key that is not UTF-8 without NUL *"},
};

/* inputs.t is the text that is decoded. */
#define DECODES(text, line) T("return run.json.decode(inputs.t)"), line, text
#define REFUSES(text, line)                                                    \
	T(TRAP(                                                                \
	    "run.json.decode(inputs.t)") "return (e:gsub('^.-: ', '', 1))"),   \
	    line, text

static const struct trial decodings[] = {
    {.name = "decode: scalars and nesting",
     DECODES("{\"t\":\" [1,-2.5e1,true,false,null,\\\"a\\\",{\\\"k\\\":{}}]\"}",
	     "VALUE:[1,-25,true,false,null,\"a\",{\"k\":{}}]")},
    {.name = "decode: escapes and surrogate pairs",
     DECODES("{\"t\":\"\\\"\\\\u00e4\\\\ud83d\\\\ude00\\\\n\\\\/\\\"\"}",
	     "VALUE:\"ä😀\\n/\"")},
    {.name = "decode: an integer over 64 bits is a double",
     DECODES("{\"t\":\"[9223372036854775808,-9223372036854775808]\"}",
	     "VALUE:[9.223372036854776e+18,-9223372036854775808]")},
    {.name = "decode: -0 stays", DECODES("{\"t\":\"-0\"}", "VALUE:-0")},
    {.name = "decode: a lone surrogate is refused",
     REFUSES("{\"t\":\"\\\"\\\\ud800\\\"\"}", "VALUE:\"JSON, byte 3: a lone*")},
    {.name = "decode: two high surrogates are refused",
     REFUSES("{\"t\":\"\\\"\\\\ud800\\\\ud800\\\"\"}", "VALUE:*a lone*")},
    {.name = "decode: a duplicate key is refused",
     REFUSES("{\"t\":\"{\\\"a\\\":null,\\\"a\\\":2}\"}",
	     "VALUE:\"JSON, byte 14: the same key again\"")},
    {.name = "decode: a trailing comma is refused",
     REFUSES("{\"t\":\"[1,]\"}", "VALUE:\"JSON, byte 4: expected a value\"")},
    {.name = "decode: text after the value is refused",
     REFUSES("{\"t\":\"1 2\"}",
	     "VALUE:\"JSON, byte 3: something follows the value\"")},
    {.name = "decode: a text that ends early says so",
     REFUSES("{\"t\":\"[1\"}",
	     "VALUE:\"JSON, byte 3: the text ends too early\"")},
    {.name = "decode: nothing at all is refused",
     REFUSES("{\"t\":\"\"}",
	     "VALUE:\"JSON, byte 1: the text ends too early\"")},
    {.name = "decode: a leading zero is refused",
     REFUSES("{\"t\":\"-01\"}",
	     "VALUE:\"JSON, byte 2: a number with a leading zero\"")},
    {.name = "decode: hexadecimal is refused",
     REFUSES("{\"t\":\"0x10\"}", "VALUE:\"JSON, byte 2: something*")},
    {.name = "decode: NaN is refused",
     REFUSES("{\"t\":\"NaN\"}", "VALUE:\"JSON, byte 1: expected a value\"")},
    {.name = "decode: 1e999 is refused",
     REFUSES("{\"t\":\"1e999\"}", "VALUE:\"JSON, byte 1: a number beyond*")},
    {.name = "decode: 1. is refused",
     REFUSES("{\"t\":\"[1.]\"}", "VALUE:\"JSON, byte 4: expected a digit\"")},
    {.name = "decode: a NUL is refused",
     T(TRAP("run.json.decode('[1\\0]')") "return e"),
     "VALUE:*expected , or ]*"},
    {.name = "decode: a NUL in a string is refused",
     T(TRAP("run.json.decode('\"\\0\"')") "return e"),
     "VALUE:*a control*"},
    {.name = "decode: bad UTF-8 is refused",
     T(TRAP("run.json.decode('\"a\\xC0\\x80\"')") "return e"),
     "VALUE:*byte 3: a string that is not UTF-8*"},
    {.name = "decode: 65 levels are refused",
     T(TRAP("run.json.decode(('['):rep(65) .. (']'):rep(65))") "return e"),
     "VALUE:*more than 64 levels deep*"},
    {.name = "decode: 64 levels pass",
     T("return #run.json.encode(run.json.decode(('['):rep(64) .. "
       "(']'):rep(64)))"),
     "VALUE:128"},
    {.name = "base64 goes both ways",
     T("return {run.base64.encode('\\0\\255x'), "
       "run.base64.decode('AP94') == '\\0\\255x', run.base64.encode('')}"),
     "VALUE:[\"AP94\",true,\"\"]"},
    {.name = "base64 that is not canonical is refused",
     T("run.base64.decode('AP9')"),
     "FAIL:EXECUTION_ERROR:*not base64*"},
};

static const struct table tables[] = {
    TABLE(results), TABLE(no_json), TABLE(decodings), {0}};

int main(void)
{
	check_tables(tables);
	return tap_done();
}
