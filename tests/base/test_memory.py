import numpy as np
import pytest

from rankwright.base.memory import _container_bytes, _machine_bytes, available_memory


@pytest.mark.slow
def test_memory_in_use_is_not_available():
    before = available_memory()
    taken = np.ones(1 << 27)  # 1 GiB
    assert available_memory() < before - taken.nbytes / 2


def test_the_available_memory_of_the_machine(tmp_path):
    (tmp_path / "meminfo").write_text("MemTotal:       1000 kB\nMemFree:  10 kB\nMemAvailable:    300 kB\n")
    assert _machine_bytes(tmp_path / "meminfo") == 300 * 1024
    assert _machine_bytes(tmp_path / "none") >= _machine_bytes()


@pytest.mark.parametrize(
    ("files", "expected"),
    [
        ({"memory.max": "4096\n", "memory.current": "1000\n"}, 3096),
        ({"memory.max": "4096\n"}, 4096),
        ({"memory.max": "4096", "memory.current": "5000"}, 0),
        ({"memory.max": "9000", "memory.current": "8000", "memory.stat": "anon 1\ninactive_file 500\n"}, 1500),
        ({"memory.max": "max\n", "memory.current": "1000\n"}, None),
        ({"memory/memory.limit_in_bytes": "512", "memory/memory.usage_in_bytes": "12"}, 500),
        ({}, None),
    ],
)
def test_what_is_left_of_the_containers_limit(tmp_path, files, expected):
    for name, text in files.items():
        (tmp_path / name).parent.mkdir(exist_ok=True)
        (tmp_path / name).write_text(text)
    assert _container_bytes(tmp_path) == expected
