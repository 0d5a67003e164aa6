"""Draw the pictures of the lessons by the lessons' own commands: ``python -m tests.support.tutorial_pictures``."""

import shutil
import tempfile
from pathlib import Path

from tests.test_docs import DOCS, ROOT, pictures_of, test_snippets


def main():
    kept = ROOT / "results" / "tutorial"
    for page in sorted((DOCS / "tutorial").glob("*.md")):
        with tempfile.TemporaryDirectory() as folder:
            test_snippets(page, folder)
            for name in pictures_of(page.read_text(encoding="utf-8")):
                shutil.copy(Path(folder) / name, kept / name)


if __name__ == "__main__":
    main()
