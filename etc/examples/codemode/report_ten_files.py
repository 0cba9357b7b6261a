# SPDX-License-Identifier: Apache-2.0
# Profiles each CSV file of the working folder, four at once, and prints a line for each.
import glob

import paddock

names = sorted(glob.glob("*.csv"))
texts = [open(name, encoding="utf-8").read() for name in names]
profiles = paddock.map("csv_profile", [{"csv": text} for text in texts], concurrency=4)
for name, profile in zip(names, profiles):
    types = [column["type"] for column in profile["columns"]]
    print(f"{name}: {profile['rows']} rows, {', '.join(types)}")
