"""The language of a text fits its script."""

import pytest

from victorpy.base.language import language_of

CHINESE = "构建知识，简单介绍一下。可以帮助团队更快地构建，自动化和交付更好的软件。"


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
