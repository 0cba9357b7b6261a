# SPDX-License-Identifier: Apache-2.0
# Tries the best tool first, again where the server has no room, and then a simpler one.
import time

import paddock

AGAIN = {"QUEUE_FULL", "QUOTA_EXCEEDED", "RATE_LIMITED"}


def count(text):
    for template in ("word_count_of_many_languages", "word_count"):
        for attempt in range(3):
            try:
                return template, paddock.call(template, text=text)
            except paddock.Error as error:
                if error.code not in AGAIN:
                    paddock.log("warning", f"{template}: {error}")
                    break
                time.sleep(error.details.get("retryAfterMs", 1000) / 1000)
    raise SystemExit("no tool counts words here")


template, counted = count("the cat and the dog")
print(f"{template}: {counted['words']} words")
