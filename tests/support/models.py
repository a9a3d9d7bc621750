"""Change the meta.json of a saved model, as someone who edits a model by hand would."""

import hashlib
import json
from pathlib import Path


def unlist(directory: Path, name: str) -> None:
    """Remove a file from the list of a model's files."""
    path = directory / "meta.json"
    meta = json.loads(path.read_text(encoding="utf-8"))
    del meta["files"][name], meta["digest"]
    digest = hashlib.sha256(json.dumps(meta, sort_keys=True).encode()).hexdigest()
    path.write_text(json.dumps({**meta, "digest": digest}), encoding="utf-8")
