import pytest

from rankwright.data.files import write_whole
from rankwright.errors import InputError


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
