"""Credits from the service's log and from tables."""

import json

import pytest

import rankwright as rw
from rankwright.base.errors import InputError


def line(first, second, counted=True, **more):
    clicks = {"old@1": first, "new@1": second}
    return json.dumps({"event": "clicks", "impression": 1, "clicks": clicks, "counted": counted, **more})


def test_the_log_of_the_service(tmp_path):
    other, again = '{"event": "request", "status": 200}', line(0, 2, counted=False)
    lines = [other, line(0, 2, user="u1"), again, line(1, 0), "{"]
    (tmp_path / "serve.log").write_text("\n".join(lines))
    credits_read = rw.clicks.read_credits(tmp_path / "serve.log")
    assert credits_read.signs.tolist() == [1, -1]
    assert credits_read.user is None
    assert credits_read.notes == (
        "1 report sent again left out.",
        "1 line that cannot be read left out.",
        "1 impression without a user: no test by user.",
    )
    turned = rw.clicks.read_credits(tmp_path / "serve.log", first="new@1")
    assert turned.names == ("new@1", "old@1")
    assert turned.signs.tolist() == [-1, 1]


def test_a_table(tmp_path):
    (tmp_path / "credits.csv").write_text("first,second,user\n1,0,a\n0,1,b\n0,0,a\n")
    credits_read = rw.clicks.read_credits(tmp_path / "credits.csv")
    assert credits_read.user == ("a", "b", "a")
    assert rw.clicks.interleaving(credits_read).verdicts["user"].n_units == 2


@pytest.mark.parametrize(
    ("text", "sentence"),
    [
        ('{"event": "request"}', "{path} has no counted reports of clicks on interleaved lists."),
        ("a,b\n1,2\n", "{path} has no column 'first'; it has a, b."),
        ("first,second\n1,x\n", "{path}, line 2: 'x' in 'second' is not a number."),
        ("first,second\n1,-2\n", "The credits of the second ranker must be numbers of clicks, not negative."),
    ],
)
def test_refusals(tmp_path, text, sentence):
    path = tmp_path / "credits"
    path.write_text(text)
    with pytest.raises(InputError) as error:
        rw.clicks.read_credits(path)
    assert str(error.value) == sentence.format(path=path)


def test_several_pairs_are_refused(tmp_path):
    other = json.dumps({"event": "clicks", "clicks": {"old@1": 1, "third@1": 0}, "counted": True})
    (tmp_path / "serve.log").write_text("\n".join([line(0, 1), other]))
    with pytest.raises(InputError, match="has several pairs of rankers"):
        rw.clicks.read_credits(tmp_path / "serve.log")
    assert len(rw.clicks.read_credits(tmp_path / "serve.log", second="new@1")) == 1


def test_a_table_in_which_some_users_are_missing(tmp_path):
    (tmp_path / "credits.csv").write_text("first,second,session,user\n1,0,s,a\n0,1,t,\n0,0,u,\n")
    credits_read = rw.clicks.read_credits(tmp_path / "credits.csv")
    assert (credits_read.session, credits_read.user) == (("s", "t", "u"), None)
    assert credits_read.notes == ("2 impressions without a user: no test by user.",)
