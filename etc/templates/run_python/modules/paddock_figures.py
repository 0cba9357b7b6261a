# SPDX-License-Identifier: Apache-2.0
# Names of the files in out/ for what is shown: figure-1.png, figure-2.html and so on, never
# that of a file which is there.
import os

OUT = os.environ.get("PADDOCK_OUT", "out")
MOST = 10000
last = 0  # number of the last file


def new_file(extension):
    """A new file, open, with the next number."""
    global last
    os.makedirs(OUT, exist_ok=True)
    while last < MOST:
        last += 1
        try:
            return open(f"{OUT}/figure-{last}.{extension}", "xb")
        except FileExistsError:
            continue
    raise FileExistsError(f"{MOST} figures were shown, which is the most")
