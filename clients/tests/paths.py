"""Goal: a guard in Python, held against the corpus of paths. Run: paths.py PATH_TO_STANDIN"""

import json
import os
import pathlib
import subprocess
import sys
import tempfile


def lexical(roots, path):
    """The guard: may a tool be let at this path? By the text."""
    roots = [root for root in roots if root.startswith("/")]
    if not path.startswith("/") and not roots:
        return False
    return inside(roots, folded(os.path.join(roots[0], path) if roots else path))


def realpath(roots, path):
    """The same by where it leads: for who folds `..` first, and for who follows links first."""
    roots = [root for root in roots if root.startswith("/")]
    if "\0" in path or not roots:
        return False
    whole = os.path.join(roots[0], path)
    real = [leads_to(root) for root in roots]
    readings = [leads_to(whole), leads_to(folded(whole))]
    return all(inside(filter(None, real), target) for target in readings if target) and any(readings)


def folded(path):
    return os.path.normpath(path)


def inside(roots, target):
    return any(os.path.commonpath([folded(root), target]) == folded(root) for root in roots)


def leads_to(path):
    real = pathlib.Path(folded(os.path.realpath(path)))
    # What is still a link leads to itself.
    return None if any(os.path.islink(part) for part in [real, *real.parents]) else str(real)


def wrong(standin, guard, *more):
    """The cases that a guard gets wrong."""
    policy = guard.__name__
    line = [standin, "corpus", "paths", "--policy", policy, "--format", "json", *more]
    corpus = json.loads(subprocess.run(line, check=True, capture_output=True, text=True).stdout)
    for case in corpus["cases"]:
        asked = case["asked"][policy]
        if asked["verdict"] == "not-applicable":
            continue
        if guard(asked["roots"], asked["path"]) != (asked["verdict"] == "inside"):
            yield f"{case['name']} is {asked['verdict']}: {case['why']}"


if __name__ == "__main__":
    with tempfile.TemporaryDirectory() as folder:
        found = [*wrong(sys.argv[1], lexical), *wrong(sys.argv[1], realpath, "--make", folder)]
    sys.exit("\n".join(found) or None)
