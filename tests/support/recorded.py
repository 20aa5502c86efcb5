"""Evidence from actions and rewards."""

from soids.evidence import Evidence


def recorded(actions, rewards):
    evidence = Evidence.empty(actions.shape[1])
    for action, reward in zip(actions, rewards, strict=True):
        evidence = evidence.note(action, reward)
    return evidence
