# SPDX-License-Identifier: Apache-2.0
# Calls in the background, as many as there are files, and one line for each.
for file in *.txt; do
	paddock-call word_count -i text=@"$file" >"$file.json" &
done
wait
for file in *.txt; do
	echo "$file: $(grep -o '"words":[0-9]*' "$file.json")"
done
