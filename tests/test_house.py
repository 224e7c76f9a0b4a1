"""The house rules that a machine can check: short files and functions, one boosting loop, profiles that apply."""

import ast
import collections
import re
from pathlib import Path

ROOT = Path(__file__).resolve().parents[1]
MODULES = {path: path.read_text() for path in sorted((ROOT / "src").rglob("*.py"))}
EXAMPLES = re.compile(r'\n\n *Examples\n *--------\n(?:(?! *""").*\n)*(?= *""")')
SHORT = {path: EXAMPLES.sub("\n", text) for path, text in MODULES.items()}  # examples do not make a file long
KERNELS = {path: path.read_text() for path in sorted((ROOT / "native").rglob("*.[ch]pp"))}
TESTS = {path: path.read_text() for path in sorted((ROOT / "tests").rglob("*.py"))}

MAX_LINES_OF_A_FILE = 400  # a stub may be longer: it must mirror one module
MAX_LINES_OF_A_FUNCTION = 60


def _name(path):
    return str(path.relative_to(ROOT))


def test_there_is_something_to_check():
    assert len(MODULES) > 50
    assert len(KERNELS) > 20
    assert len(TESTS) > 50


def test_files_are_short():
    lengths = {_name(path): text.count("\n") for path, text in (SHORT | KERNELS).items()}
    assert {name: lines for name, lines in lengths.items() if lines > MAX_LINES_OF_A_FILE} == {}


def test_functions_fit_a_screen():
    lengths = {
        f"{_name(path)}: {node.name}": node.end_lineno - node.lineno + 1
        for path, text in SHORT.items()
        for node in ast.walk(ast.parse(text))
        if isinstance(node, ast.FunctionDef)
    }
    assert {name: lines for name, lines in lengths.items() if lines > MAX_LINES_OF_A_FUNCTION} == {}


def test_there_is_one_boosting_loop():
    loops = [_name(path) for path, text in MODULES.items() for _ in re.findall(r"\bin range\(rounds\)", text)]
    assert loops == ["src/rankwright/training/boosting_loop.py"]


def test_one_sort_decides_ties():
    pattern = re.compile(r"(?:argsort|lexsort)\([^\n]*(?:scores|X @ |_X @ )")
    elsewhere = [_name(path) for path, text in MODULES.items() if pattern.search(text)]
    assert elsewhere == [], "rank documents with Ranking.of, which has the only tie rule"


def test_vectors_at_any_address_are_copied():
    aligned = [_name(path) for path, text in KERNELS.items() if re.search(r"vector_size[^;]*aligned\(", text)]
    assert aligned == [], "use __builtin_memcpy: compilers disagree on the alignment of a vector type"


def test_there_is_no_drawer_for_odds_and_ends():
    names = {path.stem for path in MODULES | KERNELS}
    assert not names & {"utils", "util", "helpers", "common", "misc"}


def test_property_tests_follow_the_profile():
    pattern = re.compile(r"^@settings\(.*max_examples", re.MULTILINE)
    fixed = [_name(path) for path, text in TESTS.items() if pattern.search(text)]
    assert fixed == [], "say @examples(n) of tests/properties.py, which every profile scales"


SUBJECTS = {  # of tests that are about several modules
    "tests/training/learners/test_category_order.py",
    "tests/training/learners/test_leaf_sums.py",
    "tests/auto/test_cached_fits.py",
    "tests/auto/test_entries.py",
    "tests/auto/test_options.py",
    "tests/data/readers/test_formats.py",
    "tests/evaluation/test_report_charts.py",
    "tests/interop/test_categories.py",
    "tests/metrics/test_definitions.py",
    "tests/metrics/test_golden.py",
    "tests/models/test_artefacts.py",
    "tests/models/test_contributions.py",
    "tests/models/test_deployed.py",
    "tests/models/test_hostile_files.py",
    "tests/models/test_kinds.py",
    "tests/papers/test_pages.py",
    "tests/papers/test_xu.py",
    "tests/rankers/sklearn/test_sklearn.py",
    "tests/rankers/test_as_printed.py",
    "tests/rankers/test_every_ranker.py",
    "tests/rankers/test_lambdas_as_printed.py",
    "tests/rankers/test_networks.py",
    "tests/reports/charts/test_kinds.py",
    "tests/reports/test_every_result.py",
    "tests/reports/test_wording_rule.py",
}
UNNAMED = {"one", "found", "place"}  # words that do not say what a variable holds
MAX_FILES_OF_A_ROOM = 24


def test_public_class_names_are_unique():
    places = {}
    for path, text in MODULES.items():
        for node in ast.walk(ast.parse(text)):
            if isinstance(node, ast.ClassDef) and not node.name.startswith("_"):
                places.setdefault(node.name, []).append(_name(path))
    assert {name: paths for name, paths in places.items() if len(paths) > 1} == {}


def test_variables_say_what_they_hold():
    bound = {
        f"{_name(path)}:{node.lineno}"
        for path, text in MODULES.items()
        for node in ast.walk(ast.parse(text))
        if (isinstance(node, ast.Name) and isinstance(node.ctx, ast.Store) and node.id in UNNAMED)
        or (isinstance(node, ast.arg) and node.arg in UNNAMED)
    }
    assert bound == set()


def test_no_module_imports_its_importers():
    """There is no cycle of imports, those for type checkers included."""
    names = {str(path.relative_to(ROOT / "src").with_suffix("")).replace("/", "."): path for path in MODULES}
    imports = {name: _imported(ast.parse(MODULES[path]), names) - {name} for name, path in names.items()}
    while leaves := [name for name, others in imports.items() if not others & imports.keys()]:
        for name in leaves:
            del imports[name]
    assert sorted(imports) == [], "these import each other, or import modules that do"


def _imported(tree, names):
    modules = [
        (node.module, node.names) for node in ast.walk(tree) if isinstance(node, ast.ImportFrom) and node.module
    ]
    return {
        name
        for module, members in modules
        for name in (module, *(f"{module}.{member.name}" for member in members))
        if name in names
    }


def test_rooms_are_small():
    rooms = collections.Counter(_name(path.parent) for path in MODULES)
    assert {room: files for room, files in rooms.items() if files > MAX_FILES_OF_A_ROOM} == {}


def test_results_are_rendered_in_one_room():
    """No result writes its own notebook output; scorers and rankers, which are no results, have cards."""
    own = {_name(path) for path, text in MODULES.items() if "def _repr_mimebundle_" in text}
    assert {name for name in own if "/reports/" not in name} == {
        "src/rankwright/models/scorer.py",
        "src/rankwright/rankers/ranker.py",
    }


def test_names_are_suggested_by_one_function():
    users = [_name(path) for path, text in MODULES.items() if "get_close_matches" in text]
    assert users == ["src/rankwright/base/wording.py"]


def test_tests_mirror_the_source():
    """A test file is named after a module of its room, or after a subject that several modules share."""
    rooms = {path.relative_to(ROOT / "src" / "rankwright").with_suffix("") for path in MODULES}
    modules = {str(path).replace("__init__", "").rstrip("/") for path in rooms}
    strays = []
    for path in TESTS:
        relative = path.relative_to(ROOT / "tests")
        if (
            not path.name.startswith("test_")
            or relative.parts[0] in {"browser", "ecosystem", "fuzz"}
            or len(relative.parts) == 1
        ):
            continue
        subject = str(relative.parent / path.stem.removeprefix("test_"))
        if subject not in modules and f"tests/{relative}" not in SUBJECTS:
            strays.append(f"tests/{relative}")
    assert strays == []
