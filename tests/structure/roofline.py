# SPDX-License-Identifier: Apache-2.0
"""The tables of docs/gpu.md are what build/tests/standin/roofline prints of today's steps.

    python3 tests/structure/roofline.py build/tests/standin/roofline --write    # makes them anew
"""

import subprocess
import sys

from harness import ROOT, Tap

BEGIN, END = "<!-- what roofline prints: begin -->\n", "<!-- what roofline prints: end -->\n"

page = ROOT / "docs" / "gpu.md"
before, _, rest = page.read_text().partition(BEGIN)
there, _, after = rest.partition(END)
printed = "\n" + subprocess.run([sys.argv[1]], capture_output=True, text=True, check=True).stdout + "\n"
if "--write" in sys.argv:
    page.write_text(before + BEGIN + printed + END + after)
    sys.exit()

# Bug: a kernel more in a step, or a layer of a model, that the page does not know.
tap = Tap()
wrong = [line for line in printed.splitlines() if line not in there.splitlines()]
wrong += [line for line in there.splitlines() if line not in printed.splitlines()]
tap.check("docs/gpu.md has the tables that roofline prints (see tests/structure/roofline.py)", wrong)
tap.finish()
