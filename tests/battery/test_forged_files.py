"""Forged files, with right checksums: each is refused by name, or is as good as an honest one.

No case may end its process, take minutes, raise anything but ValueError, take much memory, or lead
to a policy that plays badly.
"""

from collections import Counter
from pathlib import Path

import pytest

from forgeries import KINDS, verdicts


@pytest.mark.skipif(not Path("/proc/self/statm").exists(), reason="needs limits as of Linux")
@pytest.mark.parametrize("kind", KINDS.values(), ids=KINDS)
def test_a_forged_file_is_refused_or_does_no_harm(kind, cases):
    number = cases(kind.sample, kind.whole)
    found = verdicts(kind.script, 0, number)
    assert len(found) == number
    fine = {"refused", kind.fine}
    wrong = {case: one for case, one in found.items() if one[0] not in fine}
    assert not wrong, f"{len(wrong)} of {number}: {dict(list(wrong.items())[:5])}"
    counts = Counter(verdict for verdict, _ in found.values())
    assert min(counts[one] for one in fine) > 0.02 * number, "the forger has become blunt"
