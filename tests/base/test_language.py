"""The language of a text fits its script."""

import pytest

from victorpy.base import language as language_module
from victorpy.base.language import known_languages, language_of, primary

CHINESE = "构建知识，简单介绍一下。可以帮助团队更快地构建，自动化和交付更好的软件。"
GERMAN = "Tee ist ein heißes Getränk, das man aus den Blättern des Teestrauchs macht und überall gern trinkt. "


@pytest.mark.parametrize(
    ("text", "claimed", "language"),
    [
        (CHINESE, "def", ""),  # too short for detection
        (CHINESE, "zh-CN", "zh"),
        ("Android 构建知识", "en", "en"),  # mostly Latin letters
        ("构建知识 (Tea)", "en", ""),
        (CHINESE * 4, "def", "zh"),
        ("서울은 대한민국의 수도이다", "en", ""),
        ("서울은 대한민국의 수도이다", "ko-KR", "ko"),
        ("お茶を飲みます", "zh", ""),
        ("お茶を飲みます", "ja", "ja"),
        ("Чай это напиток", "de", ""),
        ("Чай је напитак", "sr", "sr"),
        ("الشاي مشروب ساخن", "en-US", ""),
        ("2024 - 17", "de", "de"),
        ("", "de", "de"),
    ],
)
def test_languages_that_do_not_use_the_script_are_refused(text, claimed, language):
    assert language_of(text, claimed) == language


SCRIPTS = [
    *((letters, "zh yue ja") for letters in "漢々"),
    *((letters, "ja") for letters in "ひカーｶ"),
    *(("차", "ko"), ("ж", "ru uk sr"), ("ش", "ar fa ur"), ("ש", "he yi"), ("λ", "el grc"), ("अ", "hi mr ne sa")),
    *(("অ", "as bn"), ("ਚ", "pa"), ("ચ", "gu"), ("ଚ", "or"), ("ச", "ta"), ("చ", "te"), ("ಚ", "kn"), ("ച", "ml")),
    *(("ච", "si"), ("ช", "th"), ("ຊ", "lo"), ("ཇ", "bo dz"), ("လ", "my"), ("ត", "km"), ("ሻ", "am ti")),
    *(("թ", "hy"), ("ჩ", "ka")),
]


def test_every_script_belongs_to_its_languages():
    for letters, languages in SCRIPTS:
        for language in languages.split():
            assert language_of(letters, language) == language
        assert language_of(letters, "de") == ""


@pytest.mark.parametrize(
    ("text", "language"),
    [
        ("жж aa", "en"),
        ("жжж aa", ""),
        ("a" * 500 + "က" * 550, "en"),  # the first 1,000 characters decide
        ("က" * 500 + "a" * 550, "en"),
        ("a" * 499 + "က" * 551, "my"),
        ("က" * 501 + "a" * 549, "my"),
    ],
)
def test_at_most_half_of_the_letters_are_of_other_scripts(text, language):
    assert language_of(text, "en") == language


def test_languages_that_can_be_detected_have_no_aliases():
    assert {"de", "zh", "my", "zxx"} <= known_languages()
    assert "wuu" not in known_languages()


@pytest.mark.parametrize(
    ("claimed", "language"),
    [(" DE-at ", "de"), ("zh_Hant_TW", "zh"), ("sr-Latn", "sr"), ("", ""), ("-", ""), ("x", "x")],
)
def test_primary_language(claimed, language):
    assert primary(claimed) == language


SHORT, UNSURE = "Taxi Hotel Bar Radio Internet Metro Video Casino ", "1 2 3 4 5 6 7 8 9 10 "


def test_unsure_detection_does_not_replace_the_declared_language():
    text = SHORT * 3
    assert language_of(text, "fi") == "fi"
    assert language_of(text) in known_languages()
    assert language_of(f"{UNSURE * 20}{GERMAN * 8}", "fi") == "de"  # the first 400 characters are not enough
    assert language_of(f"{UNSURE * 60}{GERMAN * 8}", "fi") == "fi"


@pytest.mark.parametrize(("probability", "read"), [(0.95, [400]), (0.949, [400, 1000])])
def test_detection_from_95_percent_on_is_sure(monkeypatch, probability, read):
    lengths = []

    class Identifier:
        def classify(self, text):
            lengths.append(len(text))
            return "de", probability

    monkeypatch.setattr(language_module, "_identifier", Identifier)
    assert language_of(GERMAN * 20, "fi") == ("de" if probability == 0.95 else "fi")
    assert lengths == read


def test_detection_needs_room_for_a_file(monkeypatch):
    langid = pytest.importorskip("py3langid.langid")

    def load(path, norm_probs):
        raise OSError(28, "No space left on device")

    monkeypatch.setattr(langid.LanguageIdentifier, "from_model_file", load)
    language_module._identifier.cache_clear()
    words = "detecting languages needs a temporary file of 70 MB: No space left on device; set TMPDIR to a directory"
    with pytest.raises(OSError, match=words) as caught:
        language_of(GERMAN * 2)
    assert caught.value.errno == 28


def test_the_first_400_characters_decide_if_they_are_clear():
    assert language_of(f"{GERMAN * 4}{'Tea is a hot drink that is made of the leaves of a bush. ' * 12}") == "de"
