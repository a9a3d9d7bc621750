"""Build the native core while the package is installed or a wheel is made, or with `python hatch_build.py`.

Without a compiler, or with VICTOR_NATIVE=0 in the environment, the package is installed without the core. Everything
works then too, but slower. `victor --version` says which engine runs.
"""

import os
import sys
from pathlib import Path

try:
    from hatchling.builders.hooks.plugin.interface import BuildHookInterface
except ImportError:  # run as a program in an environment with Cython and setuptools
    BuildHookInterface = object

NATIVE = Path(__file__).parent / "victorpy" / "native"


class NativeCore(BuildHookInterface):
    """Compiles the modules of victorpy/native in place, where the wheel finds them."""

    def initialize(self, version, build_data):
        if self.target_name != "wheel" or os.environ.get("VICTOR_NATIVE") == "0":
            return
        try:
            build()
        except (Exception, SystemExit) as error:  # distutils ends the program if there is no compiler
            for binary in binaries():
                binary.unlink()
            self.app.display_warning(f"the native core was not built, so victorpy will be slower: {error}")
            return
        build_data["pure_python"] = False
        build_data["infer_tag"] = True


def binaries():
    """Return the compiled modules."""
    return [path for pattern in ("*.so", "*.pyd") for path in NATIVE.glob(pattern)]


def build():
    """Compile the modules whose sources have changed."""
    import lxml
    from Cython.Build import cythonize
    from setuptools import Distribution, Extension
    from setuptools.command.build_ext import build_ext

    optimise = ["/O2"] if sys.platform == "win32" else ["-O3"]
    extensions = [
        Extension(
            f"victorpy.native.{source.stem}",
            [str(source.relative_to(NATIVE.parent.parent))],
            include_dirs=lxml.get_include(),
            language="c++",
            extra_compile_args=optimise,
        )
        for source in sorted(NATIVE.glob("*.pyx"))
    ]
    os.chdir(NATIVE.parent.parent)
    command = build_ext(Distribution({"ext_modules": cythonize(extensions, quiet=True)}))
    command.inplace = True
    command.ensure_finalized()
    command.run()


if __name__ == "__main__":
    build()
