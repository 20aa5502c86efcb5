"""Doses of warfarin: predicting which of three a patient needs.

The cohort of the International Warfarin Pharmacogenetics Consortium (2009), published by PharmGKB
under CC BY-SA 4.0, is the classic of sparse contextual bandits (Bastani & Bayati 2020). A context
holds what is known before treatment: demographics, indication, target, other diagnoses and drugs,
genotypes. It lacks the dose itself, the INR under it, whether it was stable, the patient's number
and free text. It also lacks columns that repeat others, such as genotypes before quality control.
"""

import re
from functools import lru_cache
from pathlib import Path

import numpy as np

from soids.arrays import Floats, as_number
from soids.bandits.data import data_file, read_csv
from soids.bandits.draws import generator
from soids.bandits.measured import CaseBandit
from soids.features import Encoder

WARFARIN = "warfarin/iwpc_warfarin.csv.gz"
DOSE = "Therapeutic Dose of Warfarin"  # mg a week
INDICATION = "Indication for Warfarin Treatment"
GAPS = ("NA", "")
AGE = "Age"  # in decades, such as "60 - 69" or "90+"
NUMERIC = ["Height (cm)", "Weight (kg)", "Target INR"]
CATEGORICAL = [
    "Gender", "Race", "Ethnicity", "Diabetes", "Congestive Heart Failure and/or Cardiomyopathy",
    "Valve Replacement", "Aspirin", "Acetaminophen or Paracetamol (Tylenol)",
    "Was Dose of Acetaminophen or Paracetamol (Tylenol) >1300mg/day", "Simvastatin (Zocor)",
    "Atorvastatin (Lipitor)", "Fluvastatin (Lescol)", "Lovastatin (Mevacor)",
    "Pravastatin (Pravachol)", "Rosuvastatin (Crestor)", "Amiodarone (Cordarone)",
    "Carbamazepine (Tegretol)", "Phenytoin (Dilantin)", "Rifampin or Rifampicin",
    "Sulfonamide Antibiotics", "Macrolide Antibiotics", "Anti-fungal Azoles",
    "Herbal Medications, Vitamins, Supplements", "Current Smoker", "CYP2C9 consensus",
    "VKORC1 -1639 consensus", "VKORC1 497 consensus", "VKORC1 1173 consensus",
    "VKORC1 1542 consensus", "VKORC1 3730 consensus", "VKORC1 2255 consensus",
    "VKORC1 -4451 consensus",
]  # fmt: skip


def warfarin(seed: int, *, low: float = 21.0, high: float = 49.0) -> CaseBandit:
    """5,528 patients in an order that the seed determines; an arm is a low, medium or high dose.

    A dose of at most ``low`` mg a week is low, one of at least ``high`` is high; 6.2 % of the doses
    equal one of these bounds. The reward is 0 for the right arm and -1 for the others. A context
    has 99 features, so an action has 297.
    """
    low, high = as_number(low, "low", 0.0), as_number(high, "high", 0.0)
    if not low < high:
        raise ValueError(f"high must be above low, {low:g}, got {high:g}")
    contexts, doses, names = patients(data_file(WARFARIN))
    order = generator(seed).permutation(len(doses))
    right = (doses > low).astype(np.int64) + (doses >= high)
    means = np.where(np.arange(3) == right[:, None], 0.0, -1.0)[order]
    return CaseBandit(contexts[order], means, np.zeros_like(means), names)


@lru_cache(maxsize=1)
def patients(path: Path) -> tuple[Floats, Floats, tuple[str, ...]]:  # (n, p), (n,), (p,)
    """The contexts of all patients with a recorded dose, the doses, and the names of the features.

    Columns are standardised over all patients, as if their averages had been known in advance.
    Missing values are the mean or a category; the most common category has no column.
    """
    columns = read_csv(path, [DOSE, INDICATION, AGE, *NUMERIC, *CATEGORICAL])
    dosed = [row for row, dose in enumerate(columns[DOSE]) if dose not in GAPS]
    kept = {name: [values[row] for row in dosed] for name, values in columns.items()}
    numeric = {name: [as_float(value) for value in kept[name]] for name in NUMERIC}
    numeric[AGE] = [as_float(value if value in GAPS else value[0]) for value in kept[AGE]]
    categorical = {name: kept[name] for name in CATEGORICAL} | indications(kept[INDICATION])
    table = numeric | categorical
    encoder = Encoder.fit(
        table, numeric=numeric, categorical=categorical, baseline=True, missing=GAPS
    )
    doses = np.array([as_float(dose) for dose in kept[DOSE]])
    contexts = np.column_stack([np.ones(len(doses)), np.asarray(encoder.encode(table))])
    return contexts, doses, ("intercept", *encoder.names)


def as_float(text: str) -> float | None:
    """A number, or None if it is missing."""
    try:
        return None if text in GAPS else float(text)
    except ValueError:
        raise ValueError(f"{WARFARIN} must hold numbers here, got {text!r}") from None


def indications(texts: list[str]) -> dict[str, list[str]]:
    """For each of the eight indications whether it is given, and whether none is."""
    given = [set(re.findall("[1-8]", text)) for text in texts]
    answers = {
        f"Indication {code}": ["yes" if code in codes else "no" for codes in given]
        for code in "12345678"
    }
    return answers | {"Indication unknown": ["no" if codes else "yes" for codes in given]}
