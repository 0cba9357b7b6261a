# SPDX-License-Identifier: Apache-2.0
# Merges the results of many calls into a CSV file, which is an artifact of the run.
import csv
import io

import paddock

series = {"north": [4, 1, 3], "south": [10, 20], "west": []}
found = paddock.map("number_summary", [{"values": v} for v in series.values()], errors="return")
out = io.StringIO()
table = csv.writer(out, lineterminator="\n")
table.writerow(["series", "count", "mean"])
for name, summary in zip(series, found):
    if isinstance(summary, paddock.Error):
        paddock.log("warning", f"{name}: {summary.message}")
        continue
    table.writerow([name, summary["count"], summary["mean"]])
paddock.keep("series.csv", out.getvalue(), "text/csv")
print(out.getvalue(), end="")
