"""The table of ``soids bound``, the remarks below it, and the calls that its bounds cover."""

from soids.output.table import Table
from soids.theory.summary import Summary


def bound_table(found: Summary) -> Table:
    """The numbers, each with its formula or meaning."""
    refuted = found.applies == "rich_alone"
    holds = "" if refuted else found.regime
    force = {half: "  in force" if half == holds else "" for half in ("data-rich", "data-poor")}
    poor = c_min = "unknown"
    certified = ""
    if found.c_min_at_most is not None:
        poor, c_min = "none", "0"  # the actions do not span the space
        certified = f"at most {shown(found.c_min_at_most)}, certified"
    if found.c_min is not None and found.poor is not None:
        poor, c_min = shown(found.poor), shown(found.c_min)
    rows: list[tuple[str, ...]] = [  # name, number, meaning
        ("d, s", f"{found.dimension}, {found.sparsity}", ""),
        ("C_min", c_min, certified),
        ("C_T", shown(found.complexity), "5 + 2 s log(e d T / s)"),
        (),
        ("Theorem 2: data-rich", shown(found.rich), f"27 sqrt(C_T d T){force['data-rich']}"),
        ("           data-poor", poor, f"30 (C_T s / C_min)^(1/3) T^(2/3){force['data-poor']}"),
    ]
    if poor == "unknown":
        rows.append(("           at best", shown(found.poor_at_best), "if C_min were 1"))
    rows.append(("           constant", shown(found.additive), "2 T_min"))
    if refuted:
        alone = "16 sqrt(2/3 C_T d T)  in force"
        rows.append(("           in all", "-", "not proven for these actions, see below"))
        rows.append(("Data-rich rate alone", shown(found.rich_alone), alone))
    else:
        rows.append(("           in all", shown(found.bound), ""))
    if found.theorem3 is None:
        rows.append(("Theorem 3", "none", "asks for s <= d / 2"))
    else:
        half = ", its data-rich half" if refuted else ""
        rows.append(("Theorem 3", shown(found.theorem3), f"every ratio at its largest{half}"))
    branch = "the cap" if found.rate_branch == "cap" else f"the {found.rate_branch} branch"
    rows += [
        ("trivial", shown(found.trivial), "T times the widest gap"),
        (),
        ("learning rate", shown(found.rate), f"in the last round, {branch}"),
    ]
    for what, where in (("terms", found.crossover), ("rates", found.rate_crossover)):
        if where == 0.0:
            rows.append((f"{what} are equal", "never", "data-rich from the first round on"))
        elif where is not None:
            rows.append((f"{what} are equal at", shown(where), "data-rich from there on"))
    rows += [
        ("rate needs no cap from", shown(found.uncapped_from), ""),
        ("T_min", shown(found.t_min), "the paper's, larger than it need be"),
    ]
    width = max(len(row[1]) for row in rows if row)
    aligned = [row and (row[0], row[1].rjust(width), row[2]) for row in rows]
    title = f"Bounds on the expected regret after {shown(found.horizon)} rounds"
    return Table(3 * [""], aligned, title, labels=3)


def remarks(found: Summary) -> list[str]:
    """The meaning of the numbers, in sentences with the colours of Rich."""
    trivial, start = shown(found.trivial), shown(found.meaningful_from)
    if found.vacuous:
        said = [
            f"[bold yellow]Vacuous at this horizon:[/] no policy can lose more than {trivial}. "
            f"The bound says more from T = {start} on."
        ]
    else:
        said = [
            f"[bold]The bound says something:[/] it is {found.bound / found.trivial:.0%} of the "
            f"{trivial} that no policy can lose more than. It does from T = {start} on."
        ]
    if found.c_min is None and found.c_min_at_most is None:
        said.append(
            "C_min is not known: give --actions FILE or --c-min NUMBER for the data-poor term."
        )
    elif found.c_min is None:
        said.append(
            "[yellow]The actions do not span the space, or only just:[/] C_min is 0 but for "
            "rounding, and only the data-rich term remains."
        )
    if found.action_bound != 1.0:
        said.append(f"C_min is that of the actions divided by their bound, {found.action_bound:g}.")
    if found.unit != 1.0:
        said.append(
            f"Regret is in your units, {found.unit:g} times the theorems'; the learning rate is "
            f"for rewards divided by {found.unit:g}."
        )
    if found.sparse_optimal_actions is False:
        said.append(
            "[yellow]Optimal actions are not all sparse[/] (Definition 1 fails: for some s-sparse "
            "theta every best action has more than s non-zero features), so Theorems 2 and 3 are "
            "not proven here. Their data-rich halves are, for the data-rich rates alone."
        )
    checked = {
        None: ", optimal actions with at most s non-zero features (not checked)",
        True: "; checked: optimal actions have at most s non-zero features",
        False: "",
    }[found.sparse_optimal_actions]
    said.append(
        f"Assumed: |theta|_1 <= {found.radius:g}, |a| <= {found.action_bound:g}, noise "
        f"{found.noise:g}-sub-Gaussian{checked}."
    )
    return said


def calls(found: Summary) -> str:
    """The policies that the bounds are about, ready to be copied."""
    half = "'s data-rich half" if found.applies == "rich_alone" else ""
    lines = [f"\nTheorem 2{half} covers:", f"    {found.call}"]
    if found.theorem3_call is not None:
        lines += [f"Theorem 3{half} covers:", f"    {found.theorem3_call}"]
    return "\n".join(lines)


def shown(number: float) -> str:
    """A number as a person would write it."""
    if isinstance(number, int) and number < 10**15:
        return f"{number:,}"
    return f"{number:,.0f}" if 100.0 <= number < 1e9 else f"{number:.4g}"
