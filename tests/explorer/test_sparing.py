"""Scripts of pages lose what a browser does not need, and nothing else."""

import pytest

from sweeps.explorer.sparing import spared


@pytest.mark.parametrize(
    ("script", "left"),
    [
        ("const a = b + c; // sum\n  f(a);\n", "const a=b+c;\nf(a);\n"),
        ("a + +b - -c + d ++ \n", "a+ +b- -c+d++\n"),
        ("/** more\n * lines */\nlet x = 1;\n\n\nlet y;", "let x=1;\nlet y;\n"),
        ("return x in y ? 'a  b' : \"c // d\";", "return x in y?'a  b':\"c // d\";\n"),
        ("f(/[/ ]  \\/+/g, a / b / c);", "f(/[/ ]  \\/+/g,a/b/c);\n"),
        ("`a  ${ b ? `  ${c} }` : '}' }  /* d */` ;", "`a  ${ b ? `  ${c} }` : '}' }  /* d */`;\n"),
        ("x = a /* in between */ / b", "x=a/b\n"),
        ("return /x y/.test( z )", "return/x y/.test(z)\n"),
    ],
)
def test_what_is_left_of_a_script(script, left):
    assert spared(script) == left
    assert spared(left) == left
