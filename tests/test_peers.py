"""Other programs as methods. Programs that are not installed are skipped."""

import json
import sys
from functools import partial

import pytest
from support.commands import ROOT
from support.commands import victor as run_victor

from victorpy.errors import ConfigError, VictorError, install_command
from victorpy.peers import PEERS, installed_peers, is_peer, load_peer, show_peer, versions
from victorpy.research.compare import load_methods
from victorpy.research.evaluate import load_as_is

SENTENCE = (
    "Tea is a drink that is made of the leaves of a bush, and it is drunk all over the world by most of the people who "
    "have the time for it, in the morning or in the afternoon, with milk or without, as they were taught when young."
)
PAGE = (
    "<html><title>Tea</title><body><nav><ul><li><a href='/'>Home</a></li><li><a href='/b'>Buy</a></li></ul>"
    f"</nav><article><h1>On tea</h1>{''.join(f'<p>{SENTENCE} It was told {number} times.</p>' for number in range(6))}"
    "</article><footer><p><a href='/c'>Contact us</a></p></footer></body></html>"
).encode()
victor = partial(run_victor, cwd=ROOT, text=True)
MODULES = [peer.module for peer in PEERS.values()]


def needs(name):
    pytest.importorskip(PEERS[name].module, reason=f"{name} is not installed: pip install -e '.[peers]'")


@pytest.fixture
def without_peers(monkeypatch):
    """Pretend that no peer is installed."""
    for module in MODULES:
        monkeypatch.setitem(sys.modules, module, None)


@pytest.mark.parametrize("name", PEERS)
def test_peer_is_a_method_that_cleans_bytes_to_text(name):
    needs(name)
    text = load_peer(name)(PAGE)
    assert SENTENCE in text
    assert "Contact us" not in text
    (method,) = load_methods(name)
    assert (method.name, method.kind, method.is_trained) == (name, "peer", False)
    with pytest.raises(ConfigError, match="is another program, which labels no blocks; use victor compare"):
        load_as_is(name)


@pytest.mark.parametrize(
    ("name", "setting"), [("trafilatura", "comments=no"), ("jusText", "language=German"), ("justext", "language=Czech")]
)
def test_peer_takes_parameters(name, setting):
    needs("jusText" if name == "justext" else name)
    (method,) = load_methods(f"{name}({setting})")
    assert method.name == f"{name}({setting})"
    assert setting.partition("=")[0] in method.run_as


@pytest.mark.parametrize(
    ("name", "setting", "message"),
    [
        ("jusText", "language=Klingon", "jusText does not support the language 'Klingon'; choose from Afrikaans"),
        ("trafilatura", "comment=no", "did you mean 'comments'"),
        ("trafilatura", "comments=maybe", "expected yes or no"),
        ("resiliparse", "fast=yes", "parameters: none"),
    ],
)
def test_wrong_parameter_is_named(name, setting, message):
    needs(name)
    with pytest.raises(ConfigError, match=message):
        load_peer(name, [setting])


def test_names_ignore_case_and_unknown_names_are_refused():
    assert all(map(is_peer, ["trafilatura", "Trafilatura", "justext", "JUSTEXT", "readability", "readability-lxml"]))
    assert not is_peer("boilerpipe")
    with pytest.raises(VictorError, match=r"no program 'trafilator' \(did you mean 'trafilatura'\?\)"):
        load_peer("trafilator")


def test_versions_and_parameters_are_shown():
    assert {"victorpy", "lxml", *installed_peers()} <= set(versions("lxml"))
    assert show_peer("trafilatura") == "trafilatura(comments=True)"
    assert show_peer("resiliparse") == "resiliparse()"


@pytest.mark.parametrize("name", [*PEERS, "peers"])
def test_missing_peer_error_has_the_install_command(without_peers, name):
    ended = victor("compare", "--methods", f"everything,{name}", "--data", "anno:data/forum")
    assert (ended.returncode, ended.stdout) == (2, "")
    missing = "no other cleaner is installed" if name == "peers" else f"{name} is not installed"
    assert ended.stderr == f"compare: {missing}: {install_command('peers')}\n"


@pytest.mark.slow
def test_all_methods_without_installed_peers(without_peers):
    ended = victor("compare", "--methods", "all", "--data", "anno:data/forum")
    assert ended.returncode == 0, ended.stderr
    named = {line.split()[0] for line in ended.stdout.splitlines()[1:]}
    assert {"default", "everything"} <= named
    assert not named & set(PEERS)


@pytest.mark.slow
def test_peers_have_no_labels_in_a_comparison(tmp_path):
    needs("resiliparse")
    ended = victor("compare", "--methods", "resiliparse", "--data", "anno:data/forum", "-o", tmp_path)
    assert ended.returncode == 0, ended.stderr
    (result,) = json.loads((tmp_path / "scores.json").read_text(encoding="utf-8"))["results"]
    assert result["label_accuracy"] is result["content_accuracy"] is result["site_ms"] is None
    assert result["words_f1"] > 0.5
    assert result["trained_on"] is False
