#!/bin/bash
# SPDX-License-Identifier: Apache-2.0
# The most frequent words of a text, by coreutils.
set -o pipefail
export LC_ALL=C

# {"text":"...","top":N}: the members, without their JSON
inputs=$(cat)
top=$(grep -oE '"top": ?[0-9]+' <<<"$inputs" | tail -n 1 | grep -oE '[0-9]+')
sed -E 's/"top": ?[0-9]+//; s/^[^:]*"text": ?"//; s/\\u[0-9a-fA-F]{4}/ /g; s/\\./ /g' <<<"$inputs" |
	tr 'A-Z' 'a-z' | { grep -oE '[a-z]+' || :; } >words

echo '{"progress":{"done":1,"total":2,"message":"counting"}}' >&3
sort words | uniq -c | sort -k1,1nr -k2,2 >counts
cp counts out/counts.txt
echo '{"progress":{"done":2,"total":2}}' >&3

printf '{"words":%d,"different":%d,"top":[' "$(wc -l <words)" "$(wc -l <counts)"
head -n "${top:-5}" counts | while read -r n word; do
	printf '%s{"word":"%s","times":%d}' "$comma" "$word" "$n"
	comma=,
done
printf ']}'
