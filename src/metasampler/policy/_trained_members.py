"""The types of members that a sampler can have been meta-trained with."""

import re

from metasampler._warnings import warn_user

_TYPES = {
    "Boosters": "boosters",
    "LGBMClassifier": "boosters",
    "DecisionTreeClassifier": "trees",
    "ExtraTreeClassifier": "trees",
}


def type_of_members(estimator) -> str:
    """Return the type of members: "trees", "boosters", or the names of their classes.

    A base estimator may also be given by how it prints, as the summary of a sampler has it.
    """
    text = estimator if isinstance(estimator, str) else repr(estimator)
    # A pipeline is what its last step is.
    if text.startswith("Pipeline("):
        names = re.findall(r"([A-Z]\w+)\(", text)[-1:]
    else:
        depth, names = 0, []
        for name, bracket in re.findall(r"([A-Z]\w+)?([()])", text):
            if bracket == "(" and depth == 0 and name:
                names.append(name)
            depth += 1 if bracket == "(" else -1
    types = dict.fromkeys(_TYPES.get(name, name) for name in names)
    return " and ".join(types) or text


def warn_of_other_members(policy, estimator) -> None:
    """Warn if a sampler was meta-trained with other members than those it is to draw rows for.

    A policy without a summary of its training is not judged.
    """
    summary = getattr(policy, "summary_", None) or getattr(policy, "summary", None)
    trained = summary.get("estimator") if isinstance(summary, dict) else None
    if not trained:
        return
    learned, members = type_of_members(trained), type_of_members(estimator)
    if learned != members:
        warn_user(
            f"This sampler was meta-trained with {learned}, and the members are {members}. "
            "Rows that are hard for one may teach nothing to the other. Meta-train one with "
            f"{members}, or see whether it beats a constant."
        )
