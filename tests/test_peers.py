"""Other programs as methods. Programs that are not installed are skipped."""

import json
import shutil
import signal
import sys
from functools import partial

import pytest
from support.commands import ROOT
from support.commands import victor as run_victor

from victorpy import peers
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
MODULES = [peer.module for peer in PEERS.values() if not peer.in_node]
IN_NODE = [name for name, peer in PEERS.items() if peer.in_node]


def needs(name):
    if not PEERS[name].is_installed:
        pytest.skip(f"{name} is not installed")


@pytest.fixture
def without_peers(monkeypatch):
    """Pretend that no peer is installed."""
    for module in MODULES:
        monkeypatch.setitem(sys.modules, module, None)
    monkeypatch.setattr(peers, "_node_versions", dict)


@pytest.fixture
def node_packages(tmp_path, monkeypatch):
    """Small packages with the names of the programs in Node.js, which a real Node.js runs."""
    if not shutil.which("node"):
        pytest.skip("Node.js is not installed")
    sources = {
        "jsdom": "exports.JSDOM = class { constructor(html, options) { this.window = {document: {html, ...options}, "
        "close() {}} } }; exports.VirtualConsole = class {}",
        "@mozilla/readability": "exports.Readability = class { constructor(document) { this.document = document } "
        "parse() { if (this.document.html.includes('bad')) throw new Error('no tea'); "
        "console.log('noise'); return {content: this.document.html + '<p>' + this.document.url} } }",
        "defuddle": "",
    }
    for name, source in sources.items():
        folder = tmp_path / "node_modules" / name
        folder.mkdir(parents=True)
        (folder / "index.js").write_text(source)
        (folder / "package.json").write_text('{"version": "1.2.3"}')
    (folder / "node.js").write_text("exports.Defuddle = async (page, url, options) => ({content: '# ' + page.html})")
    monkeypatch.chdir(tmp_path)
    peers._node_versions.cache_clear()
    yield
    peers._node_versions.cache_clear()


STANDINS = {
    "trafilatura.py": "def extract(page, include_comments):\n"
    " return f'{page.decode()} {include_comments}' if page else None",
    # Without these, an installed resiliparse would come first.
    "resiliparse/__init__.py": "",
    "resiliparse/extract/__init__.py": "",
    "resiliparse/parse/__init__.py": "",
    "resiliparse/extract/html2text.py": "def extract_plain_text(text, main_content): return f'{text} {main_content}'",
    "resiliparse/parse/encoding.py": "def detect_encoding(page): return 'latin-1'\n"
    "def bytes_to_str(page, encoding): return page.decode(encoding)",
    "readability.py": "class Document:\n def __init__(self, page): self.page = page\n"
    " def summary(self): return f'<p>{self.page}<p>end'",
    "justext.py": "from types import SimpleNamespace\ndef get_stoplists(): return {'German', 'English'}\n"
    "def get_stoplist(name):\n if name not in get_stoplists(): raise ValueError\n return name\n"
    "def justext(page, words):\n return [SimpleNamespace(text=text, is_boilerplate=text == 'menu')"
    " for text in [*page.decode().split(), words]]",
}
"""Small modules with the names of the Python programs."""

NODE = f"""#!{sys.executable}
import json, sys
if len(sys.argv) == 2:
    print(json.dumps({{"defuddle": "1.2.3"}}))
for line in sys.stdin if len(sys.argv) > 2 else ():
    page = json.loads(line)
    answer = {{"error": "no tea"}} if "bad" in page["html"] else {{"content": f"<p>{{page['html']}}<p>{{sys.argv[2]}}"}}
    print(json.dumps(answer | {{"seconds": 2.5}}), flush=True)
"""


@pytest.fixture
def standins(tmp_path, monkeypatch):
    """Programs that are always installed, and return what they are given."""
    files = {tmp_path / "modules" / name: source for name, source in STANDINS.items()} | {tmp_path / "node": NODE}
    for path, source in files.items():
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(source, encoding="utf-8")
    (tmp_path / "node").chmod(0o755)
    monkeypatch.setenv("PATH", str(tmp_path))
    monkeypatch.syspath_prepend(tmp_path / "modules")
    names = {path.split("/")[0].removesuffix(".py") for path in STANDINS}
    installed = {name: sys.modules.pop(name) for name in [*sys.modules] if name.split(".")[0] in names}
    peers._node_versions.cache_clear()
    yield tmp_path
    for name in [name for name in sys.modules if name.split(".")[0] in names]:
        del sys.modules[name]
    sys.modules.update(installed)
    peers._node_versions.cache_clear()


@pytest.mark.parametrize(
    ("name", "settings", "page", "expected"),
    [
        ("trafilatura", [], "tea", "tea True"),
        ("trafilatura", ["comments=no"], "tea", "tea False"),
        ("trafilatura", [], "", ""),
        ("resiliparse", [], "Gr\xfcn", "Grün True"),
        ("readability", [], "Gr\xfcn", "Gr\ufffdn\nend"),
        ("jusText", [], "menu tea hot", "tea\nhot\nEnglish"),
        ("jusText", ["language=German"], "tea", "tea\nGerman"),
        ("defuddle", [], "tea<br>hot", "tea\nhot\ndefuddle"),
    ],
)
def test_what_programs_get_and_return(standins, name, settings, page, expected):
    assert load_peer(name, settings)(page.encode("latin-1")) == expected


def test_seconds_and_errors_of_programs_in_node(standins):
    program, before = peers.NodeProgram("defuddle"), peers.cpu_seconds()
    assert program("tea", "https://tea.example/") == "<p>tea<p>defuddle"
    with pytest.raises(VictorError, match="no tea"):
        program("bad")
    assert 5 <= peers.cpu_seconds() - before < 6
    assert versions()["defuddle"] == "1.2.3"
    assert [name for name in IN_NODE if PEERS[name].is_installed] == ["defuddle"]


def test_programs_that_cannot_be_used(standins):
    with pytest.raises(ConfigError, match="does not support the language 'Klingon'; choose from English, German"):
        load_peer("justext", ["language=Klingon"])
    with pytest.raises(ConfigError, match="justext is another program, which labels no blocks; use victor compare"):
        load_as_is("justext", allow_code=False)
    (standins / "modules" / "trafilatura.py").write_text("raise ImportError('no tea')")
    with pytest.raises(VictorError, match="trafilatura is installed but cannot be used: no tea"):
        load_peer("trafilatura")
    (standins / "node").unlink()
    peers._node_versions.cache_clear()
    with pytest.raises(VictorError, match="defuddle is not installed: npm install defuddle"):
        load_peer("defuddle")


def test_programs_in_node_clean_pages(node_packages):
    assert {*IN_NODE} <= {*installed_peers()}
    assert versions()["defuddle"] == "1.2.3"
    before = peers.cpu_seconds()
    extract = load_peer("mozilla-readability")
    assert extract("<p>Tea is <b>hot</b>.<p>Grüße".encode("cp1252")) == "Tea is hot.\nGrüße\nhttps://example.org/"
    with pytest.raises(VictorError, match="no tea"):
        extract(b"<p>bad")
    assert extract(b"<p>Tea") == "Tea\nhttps://example.org/"
    assert load_peer("defuddle")(b"Tea") == "# Tea"
    assert peers.cpu_seconds() > before


def test_a_program_in_node_that_ends_is_reported(node_packages):
    signal.signal(signal.SIGPIPE, signal.SIG_DFL)  # as in commands
    program = peers.NodeProgram("unknown")
    program._process.wait()
    with pytest.raises(VictorError, match=r"the program in Node\.js stopped"):
        program("<p>Tea")


@pytest.mark.parametrize("name", PEERS)
def test_peer_is_a_method_that_cleans_bytes_to_text(name):
    needs(name)
    text = load_peer(name)(PAGE)
    assert SENTENCE in text
    assert "Contact us" not in text
    (method,) = load_methods(name)
    assert (method.name, method.kind, method.is_trained) == (name, "peer", False)
    with pytest.raises(ConfigError, match="is another program, which labels no blocks; use victor compare"):
        load_as_is(name, allow_code=False)


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
    install = f"npm install {PEERS[name].module} jsdom@26" if name in IN_NODE else install_command("peers")
    assert ended.stderr == f"compare: {missing}: {install}\n"


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
