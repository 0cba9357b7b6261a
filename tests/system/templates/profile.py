#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""profile.py COUNT - CSV texts, and what Python makes of them.

One JSON object a line: {"name", "inputs", "rows", "warnings", "columns"}.
Each text is written by Python's csv, read back by it, and summed up by its
statistics. The same COUNT gives the same texts."""

import csv
import io
import json
import random
import statistics
import sys
from collections import Counter

NULLS = {"", "NA", "N/A", "null", "NULL"}
QUANTILES = ["0.05", "0.25", "0.5", "0.75", "0.95"]
WORDS = ["ash", "Birke", "cèdre", "柏木", "elm, white", 'the "oak"', "fir\nspruce",
         "gum; red", "hazel|nut", "iv\ty", "🌲", "larch\r\nEurope", "x" * 150]


def integer(r):
    return str(r.choice([r.randint(-9, 9), r.randint(-10**6, 10**6),
                         r.randint(-10**17, 10**17)]))


def small(r):
    return str(r.randint(0, 5))


def number(r):
    x = r.choice([r.random(), r.gauss(0, 1000), r.gauss(1e9, 1), r.expovariate(1e6)])
    return r.choice([repr(x), "%.2f" % x, "%.3e" % x, "%+.1f" % x])


def boolean(r):
    return r.choice(["true", "false", "yes", "No"])


def date(r):
    return "%04d-%02d-%02d" % (r.randint(1900, 2100), r.randint(1, 12), r.randint(1, 28))


def text(r):
    return r.choice(WORDS) + r.choice(["", "", str(r.randint(0, 99))])


def nothing(r):
    return r.choice(sorted(NULLS))


KINDS = {"integer": [integer, small], "number": [number], "boolean": [boolean],
         "date": [date], "string": [text], "empty": [nothing]}


def make_column(r, rows):
    kind = r.choice(list(KINDS))
    make, gaps = r.choice(KINDS[kind]), r.choice([0, 0, 0.1, 0.5])
    cells = [nothing(r) if r.random() < gaps else make(r) for _ in range(rows)]
    if r.random() < 0.1:
        cells = [" " + c if r.random() < 0.5 else c + "  " for c in cells]
    return kind, cells


def write(r, delimiter, names, records):
    out = io.StringIO(newline="")
    w = csv.writer(out, delimiter=delimiter,
                   lineterminator=r.choice(["\n", "\r\n"]),
                   quoting=r.choice([csv.QUOTE_MINIMAL, csv.QUOTE_MINIMAL, csv.QUOTE_ALL]))
    w.writerow(names)
    w.writerows(records)
    whole = out.getvalue()
    return whole.rstrip("\r\n") if r.random() < 0.2 else whole


def number_of(s):
    try:
        return int(s)
    except ValueError:
        return float(s)


def add_numbers(out, values):
    xs = [number_of(v.strip()) for v in values]
    out.update(min=min(xs), max=max(xs), mean=statistics.mean(xs),
               scale=float(max(abs(x) for x in xs)))
    if len(xs) > 1:
        out["stddev"] = statistics.stdev(xs)
        cuts = statistics.quantiles(xs, n=20, method="inclusive")
        out["quantiles"] = dict(zip(QUANTILES, [cuts[0], cuts[4], cuts[9], cuts[14], cuts[18]]))


def shown(s):
    return s if len(s) <= 200 else s[:200] + "…"


def profile(name, kind, cells):
    values = [c for c in cells if c.strip() not in NULLS]
    counts = sorted(Counter(values).items(), key=lambda e: (-e[1], e[0]))
    out = {"name": name, "count": len(values), "missing": len(cells) - len(values),
           "distinct": len(counts), "type": kind if values else "empty",
           "top": [{"value": shown(v), "count": n} for v, n in counts[:20]]}
    if not values:
        return out
    out["minLength"], out["maxLength"] = min(map(len, values)), max(map(len, values))
    if kind in ("integer", "number"):
        add_numbers(out, values)
    elif kind == "date":
        out["min"], out["max"] = min(v.strip() for v in values), max(v.strip() for v in values)
    elif kind == "string":
        out["min"], out["max"] = shown(min(values)), shown(max(values))
    return out


def make_ragged(r, records, width):
    for i, row in enumerate(records):
        if r.random() < 0.1:
            records[i] = r.choice([row[:r.randint(1, width)], row + ["extra"] * r.randint(1, 2)])


def one(seed):
    r = random.Random(seed)
    width, rows = r.randint(1, 7), r.choice([1, 2, 3, 10, 60, 300])
    delimiter = r.choice(",;\t|")
    kinds, columns = zip(*[make_column(r, rows) for _ in range(width)])
    names = ["%s %c" % (k, chr(ord("a") + i)) for i, k in enumerate(kinds)]
    records = [list(row) for row in zip(*columns)]
    if r.random() < 0.3:
        make_ragged(r, records, width)
    whole = write(r, delimiter, names, records)
    read = [row for row in csv.reader(io.StringIO(whole, newline=""), delimiter=delimiter) if row]
    assert read[0] == names
    body = read[1:]
    cells = [[row[i] if i < len(row) else "" for row in body] for i in range(width)]
    warnings = {"TOO_FEW_FIELDS": sum(len(row) < width for row in body),
                "TOO_MANY_FIELDS": sum(len(row) > width for row in body)}
    return {"name": "seed %d" % seed, "rows": len(body),
            "inputs": {"csv": whole, "delimiter": delimiter, "header": True},
            "warnings": {k: n for k, n in warnings.items() if n},
            "columns": [profile(n, k, c) for n, k, c in zip(names, kinds, cells)]}


for n in range(int(sys.argv[1])):
    print(json.dumps(one(n)))
