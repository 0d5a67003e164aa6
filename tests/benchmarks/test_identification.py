"""Do 95 % intervals of fits hold as often as they say, and does the page tell what was found?"""

import json
import re
from pathlib import Path

ROOT = Path(__file__).parent.parent.parent
FOUND = json.loads((ROOT / "results/benchmarks/identification.json").read_text())


def test_intervals_of_2000_experiments_hold_93_to_97_per_cent_and_the_page_says_so():
    page = (ROOT / "docs" / "identification.md").read_text("utf-8")
    told = re.findall(r"\| 2,000 .*?([\d.]+) to ([\d.]+) %", page)
    assert len(told) == len(FOUND) == 2
    for each, ends in zip(FOUND, told, strict=True):
        assert each["experiments"] == each["converged"] == 2000
        shares = sorted(each["intervals that hold [%]"].values())
        assert 93.0 <= shares[0] <= shares[-1] <= 97.0
        for share, end in zip((shares[0], shares[-1]), ends, strict=True):
            assert abs(share - float(end)) <= 0.0501
        assert each["single arms differ by standard errors"] < 1e-6
