"""Forges files: the checksum is right, the content is not. Run as a script it also opens them.

    python tests/support/forger.py FIRST LAST     two lines of JSON for each case

A case is a number, from which its file follows: a case that ends the process is known.
"""

import hashlib
import io
import json
import resource
import signal
import sys
import traceback
import tracemalloc
import warnings
import zipfile
from pathlib import Path
from tempfile import TemporaryDirectory

import rounding  # noqa: F401  before NumPy

# isort: split
import numpy as np

from members import COVERED, SPANNING, members, name_of
from soids import POLICIES, load, save
from soids.policies.checkpoint import MAGIC

SECONDS = 120  # after which a case counts as a hang
ROOM = 4_000_000  # bytes that reading may take beside five times the size of a file
SPACE = 2**30  # bytes that a case may take beside what the process has
ACTIONS = np.random.default_rng(0).uniform(-1, 1, (8, 4))
WIDE = np.random.default_rng(0).uniform(-1, 1, (8, 600))  # so many features that rows are summed
SCALARS = (
    None, True, -1, 0, 1, 2**31, 2**62, -(2**63), 2**70, 10**400, 0.5, -1.0, 1e-300, 1e300,
    float("nan"), float("inf"), float("-inf"), "x", "soids.files:write_whole", [], {}, [1, 2],
    {"again": 0}, {"again": 10**9}, {"again": -1}, {"array": "array.0"}, {"array": "none"},
    {"columns": 0}, {"tuple": []}, {"tuple": [{"again": 0}]}, {"tuple": 3}, {"record": "x"},
    {"record": "soids.simulation.store:Store", "fields": {"folder": "/"}},
    {"record": "soids.__main__:main", "fields": {}},
)  # fmt: skip
NUMBERS = (
    np.nan, np.inf, -np.inf, 0.0, -1.0, 1e-300, 1e15, 1e200, 1e300, -1e300, 2**31, 2**62, -1, 10
)  # fmt: skip


def originals():
    """Policies as they are saved in the middle of a run, by name; some decisions wait."""
    found = {}
    for member in members():
        make = member.values[0]
        for rounds in (0, 6, 30):
            found[f"{member.id} {rounds}"] = in_play(make, rounds, ACTIONS)
        for name, value in (("intercept", True), ("discount", 0.9), ("contexts", 2)):
            found[f"{member.id} {name}"] = in_play(make, 6, ACTIONS, **{name: value})
    return found | {"wide": in_play(members()[0].values[0], 6, WIDE)}


def in_play(make, rounds, actions, **extra):
    """The file of a policy after some rounds, the last two of which have no rewards yet."""
    given = {"sparsity": 1, "radius": 2.0, "noise": 0.5, "exploration": 26, "particles": 12}
    policy, rng = make(actions.shape[1], **given | extra), np.random.default_rng(1)
    fixed = name_of(make) in (*COVERED, *SPANNING)
    for t in range(rounds):
        decision = policy.choose(actions if fixed or t % 3 else actions[:6], rng)
        if t < rounds - 2:
            policy.observe(decision, float(2.0 * decision.action[1] + 0.1 * np.sin(t)))
    with TemporaryDirectory() as folder:
        save(policy, Path(folder) / "policy")
        return (Path(folder) / "policy").read_bytes()


def opened(content):
    """The description and the arrays of a checkpoint."""
    with np.load(io.BytesIO(content[len(MAGIC) + 32 :])) as archive:
        arrays = dict(archive)
    return json.loads(arrays.pop("description").tobytes()), arrays


def sealed(body):
    """A body with its right checksum."""
    return MAGIC + hashlib.sha256(body).digest() + body


def packed(text, arrays):
    """The body of a checkpoint."""
    buffer = io.BytesIO()
    np.savez(buffer, description=np.frombuffer(text, dtype=np.uint8), **arrays)
    return buffer.getvalue()


def leaves(value, path=()):
    """The places of all values in a JSON document."""
    yield path
    if isinstance(value, dict | list):
        for key in value if isinstance(value, dict) else range(len(value)):
            yield from leaves(value[key], (*path, key))


def at(document, path):
    for key in path:
        document = document[key]
    return document


def put(document, path, value):
    at(document, path[:-1])[path[-1]] = value


def some(rng, several):
    """One of several things, of any kind."""
    return several[int(rng.integers(len(several)))]


def forge_array(rng, document, arrays):
    """Another shape, type, order, or other numbers in one array."""
    name = some(rng, sorted(arrays))
    array, kind = arrays[name], int(rng.integers(13))
    if kind == 0:
        made = array.astype(some(rng, ("<f8", "<i8", "?", "<f4", "<c16", "u1", "<U3", ">f8")))
    elif kind == 1:
        made = array.ravel() if array.ndim > 1 else array.reshape(1, -1)
    elif kind == 2:
        made = array[: max(0, len(array) - 1)]
    elif kind == 3:
        made = np.concatenate([array, array])
    elif kind == 4:
        made = np.asfortranarray(array.T)
    elif kind == 5:
        made = array[:0]
    elif kind == 6:
        made = np.zeros((int(some(rng, (10**6, 10**10, 10**15))), 0))
    elif kind == 7:
        made = np.array(0.5)
    elif kind == 8:
        made = rng.permutation(array.ravel()).reshape(array.shape)
    elif kind == 9:
        made = array * some(rng, (-1, 0, 0.999, 1.01, 3, 1000))
    else:
        made = array.copy()
        flat = made.reshape(-1)
        if flat.size:
            count = 1 if kind < 12 else flat.size
            with np.errstate(all="ignore"):
                flat[rng.integers(flat.size, size=count)] = np.asarray(some(rng, NUMBERS)).astype(
                    made.dtype
                )
    arrays[name] = made


def swap_arrays(rng, document, arrays):
    """Two arrays with each other's names."""
    one, other = some(rng, sorted(arrays)), some(rng, sorted(arrays))
    arrays[one], arrays[other] = arrays[other], arrays[one]


def forge_value(rng, document, arrays):
    """Another value, of any kind, anywhere in the description."""
    places = list(leaves(document))[1:]
    put(document, some(rng, places), some(rng, SCALARS))


def forge_number(rng, document, arrays):
    """Another number in place of a number."""
    places = [p for p in list(leaves(document))[1:] if isinstance(at(document, p), int | float)]
    value = at(document, place := some(rng, places))
    change = some(rng, (lambda x: -x, lambda x: x + 1, lambda x: x * 1000, lambda x: 0, lambda x:
                        some(rng, SCALARS[2:17])))  # fmt: skip
    put(document, place, change(value))


def swap_values(rng, document, arrays):
    """Two parts of the description in each other's places."""
    places = list(leaves(document))[1:]
    one, other = some(rng, places), some(rng, places)
    first, second = json.dumps(at(document, one)), json.dumps(at(document, other))
    put(document, one, json.loads(second))
    if one != other[: len(one)]:
        put(document, other, json.loads(first))


def drop_key(rng, document, arrays):
    """A part of the description is missing."""
    places = [p for p in list(leaves(document))[1:] if isinstance(p[-1], str)]
    place = some(rng, places)
    del at(document, place[:-1])[place[-1]]


def nest(rng, document, arrays):
    """Parts within parts, too deep for recursion."""
    inner = {"tuple": []}
    for _ in range(int(some(rng, (20, 80)))):
        inner = {"tuple": [inner]}
    put(document, some(rng, list(leaves(document))[1:]), inner)


def another_family(rng, document, arrays):
    """The state of one policy under the name of another."""
    document["family"] = some(rng, sorted(POLICIES))


FORGERIES = (
    forge_array, forge_array, forge_array, forge_array, swap_arrays, forge_value, forge_value,
    forge_number, forge_number, swap_values, drop_key, nest, another_family,
)  # fmt: skip


def bomb(rng, text, arrays):
    """A compressed archive that unpacks to far more than its size."""
    buffer = io.BytesIO()
    big = np.zeros(int(some(rng, (10**6, 2 * 10**7))))
    name = some(rng, sorted(arrays))
    np.savez_compressed(
        buffer, description=np.frombuffer(text, dtype=np.uint8), **arrays | {name: big}
    )
    return buffer.getvalue()


def false_header(rng, text, arrays):
    """A header that declares another size than the array has."""
    body, shape = packed(text, arrays), b"(%d,)" % some(rng, (10**9, 10**15, 2**63, 10**30))
    places = [i for i in range(len(body)) if body.startswith(b"'shape': (", i)]
    place = some(rng, places) + len("'shape': ")
    newline = body.index(b"\n", place)
    header = (shape + b", }").ljust(newline - place)[: newline - place]
    return body[:place] + header + body[newline:]


def deep_json(rng, text, arrays):
    """Brackets without end."""
    return packed(some(rng, (b"[" * 200_000, b'{"tuple":' * 100_000, b"[" * 10**6)), arrays)


def flipped(rng, text, arrays):
    """Bytes that were changed anywhere, and a checksum to match."""
    body = bytearray(packed(text, arrays))
    for where in rng.integers(len(body), size=int(some(rng, (1, 1, 5, 50)))):
        body[where] ^= int(rng.integers(1, 256))
    return bytes(body)


def cut(rng, text, arrays):
    """The first part of an archive."""
    body = packed(text, arrays)
    return body[: int(rng.integers(len(body)))]


def twice(rng, text, arrays):
    """Two members of one name."""
    buffer = io.BytesIO(packed(text, arrays))
    with warnings.catch_warnings(), zipfile.ZipFile(buffer, "a") as archive:
        warnings.simplefilter("ignore")
        archive.writestr("array.0.npy", archive.read("array.0.npy"))
    return buffer.getvalue()


ENVELOPES = (bomb, false_header, deep_json, flipped, flipped, cut, twice)


def forged(number, originals):
    """The forged checkpoint of a number, the name of its original, and how it was made."""
    rng = np.random.default_rng([30, number])
    name = some(rng, sorted(originals))
    document, arrays = opened(originals[name])
    made = changed(rng, document, arrays)
    if rng.random() < 0.12:
        how = some(rng, ENVELOPES)
        return sealed(how(rng, json.dumps(document).encode(), arrays)), name, how.__name__
    return sealed(packed(json.dumps(document).encode(), arrays)), name, made


def changed(rng, document, arrays):
    """Change a description and arrays in place, once or several times; returns how."""
    made = []
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        for _ in range(int(rng.choice([1, 1, 1, 2, 4]))):
            how = some(rng, FORGERIES)
            try:
                how(rng, document, arrays)
            except (LookupError, TypeError, ValueError, ArithmeticError, RecursionError):
                continue
            made.append(how.__name__)
    return " ".join(made)


def verdict_on(content, path, actions):
    """What becomes of a forged checkpoint: a refusal, or a policy that plays as it should."""
    path.write_bytes(content)
    policy, verdict = None, "refused"
    tracemalloc.start()
    try:
        policy = load(path)
    except ValueError as error:
        if str(path) not in str(error):
            verdict = f"NAMELESS {error}"
    peak = tracemalloc.get_traced_memory()[1]
    tracemalloc.stop()
    if peak > 5 * len(content) + ROOM:
        return f"MEMORY {peak:,} bytes for {len(content):,}"
    return verdict if policy is None else played_on(policy, actions)


def played_on(policy, actions):
    """Whether a policy chooses and learns."""
    rng = np.random.default_rng(5)
    for one in policy.pending[:3]:
        policy.observe(one, 0.5)
    for _ in range(3):
        try:
            decision = policy.choose(actions, rng)
        except ValueError as error:
            if str(error).startswith("actions must"):  # its settings allow others alone
                return "refused"
            raise
        masses = decision.probabilities
        if not (np.isfinite(masses).all() and abs(masses.sum() - 1.0) < 1e-8):
            return f"PROBABILITIES {masses}"
        if not 0 <= decision.index < len(actions):
            return f"INDEX {decision.index}"
        policy.observe(decision, 1.0)
    return "plays"


def each(first, last, judge):
    """Judge cases one by one: a line says which is next, another what became of it."""
    warnings.simplefilter("ignore")
    held = int(Path("/proc/self/statm").read_text().split()[0]) * resource.getpagesize()
    resource.setrlimit(resource.RLIMIT_AS, (held + SPACE, held + SPACE))
    with TemporaryDirectory() as folder:
        for number in range(first, last):
            print(json.dumps({"case": number}), flush=True)
            signal.alarm(SECONDS)  # ends the process, also from within a kernel
            how, verdict = "", ""
            try:
                how, verdict = judge(number, Path(folder))
            except BaseException:
                verdict = f"ESCAPED {traceback.format_exc()[-2000:]}"
            signal.alarm(0)
            print(json.dumps({"case": number, "how": how, "verdict": verdict}), flush=True)


def main(first, last):
    """Open the forged checkpoints of some numbers."""
    warnings.simplefilter("ignore")
    known = originals()

    def judge(number, folder):
        content, name, how = forged(number, known)
        actions = WIDE if name == "wide" else ACTIONS
        return f"{name}: {how}", verdict_on(content, folder / "policy", actions)

    each(first, last, judge)


if __name__ == "__main__":
    main(int(sys.argv[1]), int(sys.argv[2]))
