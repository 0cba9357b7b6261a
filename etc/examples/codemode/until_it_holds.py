# SPDX-License-Identifier: Apache-2.0
# Mends records until a check finds nothing any more, three times at most.
import paddock

mails = [" Ada@example.org", "grace@example.org ", "alan@example.org", "joan@example.org"]
records = [{"mail": mail} for mail in mails]
rules = [{"field": "mail", "pattern": "^[a-z.]+@[a-z.]+$"}]
mend = [str.strip, str.lower]

for attempt in range(3):
    found = paddock.call("check_records", records=records, rules=rules)
    print(f"check {attempt + 1}: {found['failed']} of {found['total']} records fail")
    if found["failed"] == 0:
        break
    for record in records:
        record["mail"] = mend[attempt](record["mail"])
