"""``deploy/`` is what ``penstock generate all`` writes, no more and no less."""

from tests.deploy.deploy_folder import DEPLOY

from penstock.cli.generate.kinds import KINDS, all_files
from penstock.cli.generate.plan import Plan


def test_folder_is_what_the_command_writes() -> None:
    wanted = all_files(Plan())
    present = {
        path.relative_to(DEPLOY).as_posix(): path.read_text() for path in DEPLOY.rglob("*") if path.is_file()
    }

    assert present.keys() == wanted.keys()
    differing = [path for path, text in wanted.items() if present[path] != text]
    assert not differing, "run penstock generate all --output deploy --force"


def test_kinds_that_write_the_same_file_write_it_alike() -> None:
    made: dict[str, str] = {}
    for make in KINDS.values():
        for path, text in make(Plan(nodes=5)).items():
            assert made.setdefault(path, text) == text


def test_no_word_of_a_template_is_left() -> None:
    for nodes in (1, 3, 64):
        for path, text in all_files(Plan(nodes=nodes)).items():
            words = [word for word in text.split() if word.count("@") >= 2]
            assert not words, path
