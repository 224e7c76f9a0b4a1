import os
import subprocess
import sys
from pathlib import Path

import pytest

from rankwright.base.errors import InputError
from rankwright.base.files import scratch_folder, write_whole


def test_a_file_appears_when_it_is_whole(tmp_path):
    path = tmp_path / "file"
    with write_whole(path) as file:
        file.write(b"new")
        assert not path.exists()
    assert path.read_bytes() == b"new"
    assert list(tmp_path.iterdir()) == [path]


def write_and_fail(path):
    with write_whole(path) as file:
        file.write(b"new")
        raise KeyboardInterrupt


def test_a_failure_leaves_what_was_there(tmp_path):
    path = tmp_path / "file"
    path.write_bytes(b"old")
    with pytest.raises(KeyboardInterrupt):
        write_and_fail(path)
    assert path.read_bytes() == b"old"
    assert list(tmp_path.iterdir()) == [path]


def test_a_place_that_cannot_be_written_is_named(tmp_path):
    with pytest.raises(InputError, match=r"nowhere/file cannot be written: No such file or directory\."):
        write_and_fail(tmp_path / "nowhere" / "file")
    (tmp_path / "file").write_bytes(b"old")
    with pytest.raises(InputError, match=r"file/inside cannot be written: Not a directory\."):
        write_and_fail(tmp_path / "file" / "inside")


WRITE_SLOWLY = """
import sys
from rankwright.base.files import scratch_folder, write_whole

with write_whole(sys.argv[1]) as file:
    file.write(b"from the child")
    file.flush()
    print("writing", flush=True)
    sys.stdin.readline()
"""


@pytest.fixture
def slow_writer(tmp_path):
    """A process that has written half of `file`."""
    command = [sys.executable, "-c", WRITE_SLOWLY, str(tmp_path / "file")]
    with subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True) as process:
        assert process.stdout.readline() == "writing\n"
        yield process
        process.kill()


def write(path, content):
    with write_whole(path) as file:
        file.write(content)


def parts(folder):
    return [path.name for path in folder.iterdir() if path.name.endswith(".part")]


def test_the_part_of_a_killed_process_is_removed_by_the_next_write(tmp_path, slow_writer):
    path = tmp_path / "file"
    path.write_bytes(b"old")
    slow_writer.kill()
    slow_writer.wait()
    assert path.read_bytes() == b"old"
    assert len(parts(tmp_path)) == 1
    write(tmp_path / "another", b"new")
    assert len(parts(tmp_path)) == 1  # the part of another target is not ours to judge
    write(path, b"new")
    assert path.read_bytes() == b"new"
    assert parts(tmp_path) == []


def test_the_part_of_a_living_process_stays(tmp_path, slow_writer):
    path = tmp_path / "file"
    write(path, b"new")
    assert path.read_bytes() == b"new"
    assert len(parts(tmp_path)) == 1
    slow_writer.communicate("go on\n")
    assert slow_writer.returncode == 0
    assert path.read_bytes() == b"from the child"
    assert parts(tmp_path) == []


def test_writers_of_one_process_do_not_disturb_each_other(tmp_path):
    path = tmp_path / "file"
    with write_whole(path) as first, write_whole(path) as second:
        first.write(b"first")
        second.write(b"second")
    assert path.read_bytes() == b"first"  # closed last
    assert parts(tmp_path) == []


def test_a_name_of_full_length(tmp_path):
    path = tmp_path / ("x" * os.pathconf(tmp_path, "PC_NAME_MAX"))
    write(path, b"new")
    assert path.read_bytes() == b"new"


def test_the_permissions_stay(tmp_path):
    path = tmp_path / "file"
    path.write_bytes(b"old")
    path.chmod(0o640)
    write(path, b"new")
    assert path.stat().st_mode & 0o777 == 0o640


WORK_SLOWLY = """
import sys
from pathlib import Path
from rankwright.base.files import scratch_folder

with scratch_folder(Path(sys.argv[1]), ".work-") as folder:
    (folder / "half").write_bytes(b"done")
    print(folder, flush=True)
    sys.stdin.readline()
"""


def test_the_scratch_folder_of_a_killed_process_is_removed_by_the_next_one_and_that_of_a_living_one_stays(
    tmp_path,
):
    command = [sys.executable, "-c", WORK_SLOWLY, str(tmp_path)]
    with subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True) as process:
        half = Path(process.stdout.readline().strip()) / "half"
        with scratch_folder(tmp_path, ".work-") as own:
            assert own != half.parent
            assert half.exists()
        assert not own.exists()
        process.kill()
        process.wait()
    assert half.exists()
    with scratch_folder(tmp_path, ".other-"):
        assert half.exists()
    with scratch_folder(tmp_path, ".work-") as own:
        assert list(tmp_path.iterdir()) == [own]
    assert list(tmp_path.iterdir()) == []
