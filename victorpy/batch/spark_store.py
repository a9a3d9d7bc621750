"""The output directory of a Spark job, on whatever file system Spark can write to."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

from pyspark.sql import SparkSession

from victorpy.batch.retry import SPARK_SETTINGS
from victorpy.errors import OutputError


class SparkStore:
    """An output directory: the settings of its run, shards, and small files."""

    def __init__(self, spark: SparkSession, output: str) -> None:
        java: Any = spark._jvm  # there is no public way to Hadoop's file systems
        self._java = java
        root = java.org.apache.hadoop.fs.Path(output if "://" in output else Path(output).resolve().as_uri())
        self._root = root.toString()
        self._files = root.getFileSystem(spark._jsc.hadoopConfiguration())

    def open(self, settings: dict[str, Any], choice: dict[str, Any]) -> None:
        """Begin a run, or go on with one; refuse to mix two."""
        if self.exists(SPARK_SETTINGS):
            before = json.loads(self.read(SPARK_SETTINGS))["settings"]
            differing = [name for name in {**before, **settings} if before.get(name) != settings.get(name)]
            if differing:
                raise OutputError(
                    f"{self._root}: holds the output of another command, which had another {', '.join(differing)}; "
                    "give the same command to go on with it, or another directory"
                )
        elif self.shards():
            raise OutputError(f"{self._root}: there are shards and no settings of theirs: choose another directory")
        else:
            self.write(SPARK_SETTINGS, json.dumps({"settings": settings, "choice": choice}) + "\n")

    def path(self, name: str) -> str:
        """The full name of something in it."""
        return f"{self._root}/{name}"

    def exists(self, name: str) -> bool:
        """Whether something is there."""
        return bool(self._files.exists(self._path(name)))

    def shards(self) -> list[str]:
        """What Spark has written, in order."""
        if not self.exists(""):
            return []
        names = [status.getPath().getName() for status in self._files.listStatus(self._path(""))]
        return sorted(name for name in names if name.startswith(("shard-", "sites-")))

    def read(self, name: str) -> str:
        """Read a small file."""
        stream = self._files.open(self._path(name))
        try:
            return bytes(stream.readAllBytes()).decode()
        finally:
            stream.close()

    def write(self, name: str, content: str) -> None:
        """Write a small file, whole or not at all."""
        fresh, target = self._path(f"{name}._tmp"), self._path(name)
        stream = self._files.create(fresh, True)
        try:
            stream.write(content.encode())
        finally:
            stream.close()
        self._files.delete(target, False)
        if not self._files.rename(fresh, target):
            raise OutputError(f"{target.toString()}: cannot be written")

    def delete(self, name: str) -> None:
        """Take something away."""
        self._files.delete(self._path(name), True)

    def _path(self, name: str) -> Any:
        return self._java.org.apache.hadoop.fs.Path(self.path(name) if name else self._root)
