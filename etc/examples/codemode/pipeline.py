# SPDX-License-Identifier: Apache-2.0
# The output of one template is the input of the next: numbers in a text, and their summary.
import paddock

text = "first 12 boxes, then 7, and 12 at the end"
with paddock.step("find"):
    found = paddock.call("pattern_matches", text=text, pattern=r"\d+")
with paddock.step("sum up"):
    numbers = [int(match["text"]) for match in found["matches"]]
    summary = paddock.call("number_summary", values=numbers)
print(f"{summary['count']} numbers, {summary['sum']:.0f} in all")
