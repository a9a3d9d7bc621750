"""Build the native core when the package is installed or a wheel is made, or with `python hatch_build.py`.

VICTOR_NATIVE in the environment decides what happens:

    unset   build the core; if that fails, warn and install without it
    0       install without the core
    1       build the core; if that fails, the installation fails

Everything works without the core, but slower. `victor --version` shows which engine runs.
"""

import os
import sys
import sysconfig
from pathlib import Path

try:
    from hatchling.builders.hooks.plugin.interface import BuildHookInterface
except ImportError:  # run as a program in an environment with Cython and setuptools
    BuildHookInterface = object

NATIVE = Path(__file__).resolve().parent / "victorpy" / "native"

# Without -ffp-contract=off, compilers for ARM round differently. setuptools adds /EHsc for Visual C++.
FLAGS = ["-O3", "-g0", "-std=c++17", "-ffp-contract=off", "-Wno-unused-function"]
if sys.platform == "win32":
    FLAGS = ["/O2", "/std:c++17", "/Dstrncasecmp=_strnicmp"]


class NativeCore(BuildHookInterface):
    """Compiles the modules of victorpy/native in place, and adds them to the wheel."""

    def initialize(self, version, build_data):
        if self.target_name != "wheel":
            return
        wanted = os.environ.get("VICTOR_NATIVE")
        reason = "VICTOR_NATIVE=0"
        if wanted != "0":
            try:
                build(force=version != "editable")
            except (Exception, SystemExit) as error:  # setuptools exits if there is no compiler
                if wanted == "1":
                    raise
                reason = str(error)
            else:
                build_data["pure_python"] = False
                build_data["infer_tag"] = True
                if version != "editable":  # an editable installation uses the files in the checkout
                    build_data["force_include"] |= {str(path): f"victorpy/native/{path.name}" for path in binaries()}
                return
        for path in binaries():  # from an earlier build
            path.unlink()
        self.app.display_warning(f"the native core was not built, so victorpy will be slower: {reason}")


def binaries():
    """Return the modules compiled for this Python."""
    return sorted(NATIVE.glob(f"*{sysconfig.get_config_var('EXT_SUFFIX')}"))


def changed(files, choose):
    """Return when the oldest (`min`) or the newest (`max`) of some files was changed, or 0 if there are none."""
    return choose((file.stat().st_mtime for file in files), default=0)


def build(flags=FLAGS, link_flags=(), force=False):
    """Compile the modules, unless they are newer than their sources and were made with the same lxml and flags."""
    import lxml
    from Cython.Build import cythonize
    from setuptools import Distribution, Extension
    from setuptools.command.build_ext import build_ext

    os.chdir(NATIVE.parent.parent)
    made_with = f"Python {sys.version}, lxml {lxml.__version__}, {[*flags, *link_flags]}"
    record = Path("build", "native-core.txt")
    sources = [*NATIVE.glob("*.pyx"), *NATIVE.glob("*.pxd"), Path(__file__)]
    is_new = changed(binaries(), min) > changed(sources, max)
    if is_new and not force and record.is_file() and record.read_text(encoding="utf-8") == made_with:
        return
    # Debian's lxml comes without the headers of libxml2.
    include_dirs = [*lxml.get_include(), *filter(os.path.isdir, ["/usr/include/libxml2"])]
    extensions = [
        Extension(
            f"victorpy.native.{source.stem}",
            [source.relative_to(Path.cwd()).as_posix()],
            include_dirs=include_dirs,
            language="c++",
            extra_compile_args=[*flags],
            extra_link_args=[*link_flags],
        )
        for source in sorted(NATIVE.glob("*.pyx"))
    ]
    processes = os.cpu_count() if sys.platform == "linux" else 0  # elsewhere new processes import the build tool again
    command = build_ext(Distribution({"ext_modules": cythonize(extensions, nthreads=processes, quiet=True)}))
    command.inplace = True
    command.force = force
    command.parallel = os.cpu_count()
    command.ensure_finalized()
    command.run()
    record.parent.mkdir(exist_ok=True)
    record.write_text(made_with, encoding="utf-8")


if __name__ == "__main__":
    build()
