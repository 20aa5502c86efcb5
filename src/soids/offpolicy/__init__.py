"""Off-policy evaluation: the mean reward of a policy, estimated from the log of another one."""

from soids.offpolicy.comparison import Difference
from soids.offpolicy.estimators import Estimate, direct, doubly_robust, ips, snips
from soids.offpolicy.evaluation import Evaluation, evaluate
from soids.offpolicy.overlap import Overlap, overlap
from soids.offpolicy.rejection import Replayed, replay
from soids.offpolicy.reports import Report
from soids.offpolicy.targets import NAMED, Candidate, learned

__all__ = [
    "NAMED", "Candidate", "Difference", "Estimate", "Evaluation", "Overlap", "Replayed", "Report",
    "direct", "doubly_robust", "evaluate", "ips", "learned", "overlap", "replay", "snips",
]  # fmt: skip
