"""Settings of every test: double precision first, strict promotion, annotations checked."""

import os

import jax

jax.config.update("jax_enable_x64", True)  # first, before any array
jax.config.update("jax_numpy_rank_promotion", "raise")
jax.config.update("jax_numpy_dtype_promotion", "strict")

from hypothesis import settings  # noqa: E402
from jaxtyping import install_import_hook  # noqa: E402

# the annotated shapes and types of every function of the library are checked in every test
install_import_hook("jaxmodal", "annotation_checks.checked")

from jaxmodal.compilation import add_cpu_flags  # noqa: E402

add_cpu_flags()  # as the command line does: compiling takes half the time

settings.register_profile("local", deadline=None, max_examples=50)
settings.register_profile("ci", deadline=None, max_examples=50, derandomize=True)
settings.load_profile("ci" if os.environ.get("CI") else "local")
