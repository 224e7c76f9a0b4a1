import pytest

from rankwright.memory import _cgroup_bytes, available_memory


def test_some_memory_is_available():
    assert available_memory() > 2**20


@pytest.mark.parametrize(
    ("name", "text", "expected"),
    [
        ("memory.max", "4096\n", 4096),
        ("memory.max", "max\n", None),
        ("memory/memory.limit_in_bytes", "512", 512),
    ],
)
def test_the_containers_limit(tmp_path, name, text, expected):
    (tmp_path / name).parent.mkdir(exist_ok=True)
    (tmp_path / name).write_text(text)
    assert _cgroup_bytes(tmp_path) == expected
