"""Equations as C99: a header, a function that allocates nothing, and a test program."""

from __future__ import annotations

import operator
from collections.abc import Mapping
from typing import Any

import numpy as np

from jaxmodal.symbolic.equations import WrittenEquations
from jaxmodal.symbolic.headings import arguments_of, heading
from jaxmodal.symbolic.infix import Text, infix_language, wrapped
from jaxmodal.symbolic.schedule import ARITHMETIC, Language, scheduled

#: number of states in the test program, and its tolerance, because compilers and libraries differ in rounding
TESTED_STATES, TEST_TOLERANCE = 3, 1e-12


def c_files(equations: WrittenEquations, name: str) -> dict[str, str]:
    """Return the texts of ``name.h``, ``name.c`` and ``name_test.c``, by file name."""
    return {
        f"{name}.c": _source(equations, name),
        f"{name}.h": _header(equations, name),
        f"{name}_test.c": _test_main(equations, name),
    }


def _comment(lines: list[str]) -> list[str]:
    return ["/*", *(f" * {line}".rstrip() for line in lines), " */"]


def _prototype(equations: WrittenEquations, name: str) -> list[str]:
    parts = [
        f"const double {argument}[{len(names)}]" for argument, names in arguments_of(equations)
    ]
    for quantity, shape in equations.shapes.items():
        parts.append(f"double {quantity}" + "".join(f"[{extent}]" for extent in shape))
    return wrapped(f"void {name}({', '.join(parts)})", "")


def _header(equations: WrittenEquations, name: str) -> str:
    guard = f"{name.upper()}_H"
    upper = name.upper()
    joints = equations.joints
    lines = [
        *_comment(heading(equations, "C99")),
        f"#ifndef {guard}",
        f"#define {guard}",
        "",
        f"#define {upper}_COORDINATES {len(equations.coordinates)}",
        f"#define {upper}_JOINTS {joints}",
        "",
        "#ifdef __cplusplus",
        'extern "C" {',
        "#endif",
        "",
        "/* All results are written; arrays are by rows. Nothing is allocated or kept between calls. */",
    ]
    prototype = _prototype(equations, name)
    prototype[-1] += ";"
    lines += [*prototype, "", "#ifdef __cplusplus", "}", "#endif", "", "#endif"]
    return "\n".join(lines) + "\n"


def _source(equations: WrittenEquations, name: str) -> str:
    plan = scheduled(equations, infix_language())
    lines = [*_comment(heading(equations, "C99")), "#include <math.h>", f'#include "{name}.h"', ""]
    for constant, value in equations.constants.items():
        lines.append(f"static const double {constant} = {value!r};")
    lines += ["", *_prototype(equations, name), "{"]
    needed = equations.used
    for argument, names in arguments_of(equations):
        used = False
        for place, symbol_name in enumerate(names):
            if symbol_name in needed:
                lines.append(f"    const double {symbol_name} = {argument}[{place}];")
                used = True
        if not used:
            lines.append(f"    (void){argument};")
    for target, text in [*plan.constants, *plan.steps]:
        lines += _assigned(f"const double {target}", text)
    for quantity, entries in plan.results.items():
        for at, entry in zip(np.ndindex(equations.shapes[quantity]), entries, strict=True):
            index = "".join(f"[{k}]" for k in at)
            lines += _assigned(f"{quantity}{index}", entry)
    return "\n".join([*lines, "}"]) + "\n"


def _assigned(target: str, text: Text) -> list[str]:
    return wrapped(f"{target} = {text.text};", "    ")


def _computed(equations: WrittenEquations, values: Mapping[str, Any]) -> list[Any]:
    """Return all entries computed in NumPy, from the recorded formulas and not from the generated text."""
    language: Language[Any] = Language(
        number=float,
        name=values.__getitem__,
        infix=lambda operation, left, right: ARITHMETIC[operation](left, right),
        negate=operator.neg,
        function=lambda name, argument: getattr(np, name)(argument),
    )
    plan = scheduled(equations, language, intermediate=False)
    return [entry for entries in plan.results.values() for entry in entries]


def _test_main(equations: WrittenEquations, name: str) -> str:
    """Return a test program with states and results of the recorded formulas; with argument -, it reads states."""
    arguments = arguments_of(equations)
    every = [name for _, names in arguments for name in names]
    starts = np.cumsum([0, *(len(names) for _, names in arguments)]).tolist()
    rng = np.random.default_rng(0)
    states = rng.uniform(-1.0, 1.0, (TESTED_STATES, len(every)))
    states[:, equations.joints : starts[1]] *= 0.01
    values: dict[str, Any] = dict(equations.constants)
    values |= dict(zip(every, states.T, strict=True))
    found = _computed(equations, values)
    expected = np.stack([np.broadcast_to(value, TESTED_STATES) for value in found], axis=-1)
    results = len(found)
    lines = [
        *_comment(
            [
                f"Tests {name}.c: `cc {name}.c {name}_test.c -lm`.",
                "",
                "Without arguments: computes known states, says how far the results are from what they should be, and",
                f"returns 0 where that is at most {TEST_TOLERANCE:g} of the largest entry of their quantity.",
                f"With the argument -: reads states ({', '.join(a for a, _ in arguments)}) from standard input and",
                f"prints the results of each on a line: {', '.join(equations.quantities)}, by rows.",
            ]
        ),
        "#include <math.h>",
        "#include <stdio.h>",
        "#include <string.h>",
        f'#include "{name}.h"',
        "",
        f"static const double states[{TESTED_STATES}][{len(every)}] = {{",
        *_rows(states),
        "};",
        "",
        f"static const double expected[{TESTED_STATES}][{results}] = {{",
        *_rows(expected),
        "};",
        "",
        f"static void compute(const double state[{len(every)}], double results[{results}])",
        "{",
    ]
    places, start = [], 0
    for quantity, shape in equations.shapes.items():
        lines.append(f"    static double {quantity}" + "".join(f"[{n}]" for n in shape) + ";")
    passed = [f"state + {start}" if start else "state" for start in starts[:-1]]
    lines += wrapped(f"{name}({', '.join([*passed, *equations.shapes])});", "    ")
    for quantity, shape in equations.shapes.items():
        count = int(np.prod(shape))
        lines.append(f"    memcpy(results + {start}, {quantity}, sizeof {quantity});")
        places.append((quantity, start, count))
        start += count
    lines += ["}", ""]
    lines += [
        "static int from_input(void)",
        "{",
        f"    static double state[{len(every)}], results[{results}];",
        "    int k = 0;",
        '    while (scanf("%lf", &state[k]) == 1) {',
        f"        if (++k < {len(every)}) {{",
        "            continue;",
        "        }",
        "        k = 0;",
        "        compute(state, results);",
        f"        for (int i = 0; i < {results}; i++) {{",
        f"            printf(\"%.17g%c\", results[i], i + 1 < {results} ? ' ' : '\\n');",
        "        }",
        "    }",
        "    return k != 0;",
        "}",
        "",
        "static double difference(const double *found, const double *known, int count)",
        "{",
        "    double size = 0.0, worst = 0.0;",
        "    for (int i = 0; i < count; i++) {",
        "        size = fmax(size, fabs(known[i]));",
        "        /* written so that a result that is no number counts */",
        "        const double gap = fabs(found[i] - known[i]);",
        "        worst = gap <= worst ? worst : gap;",
        "    }",
        "    return size > 0.0 ? worst / size : worst;",
        "}",
        "",
        "int main(int argc, char **argv)",
        "{",
        f"    static double results[{results}];",
        "    int failed = 0;",
        '    if (argc > 1 && strcmp(argv[1], "-") == 0) {',
        "        return from_input();",
        "    }",
        f"    for (int state = 0; state < {TESTED_STATES}; state++) {{",
        "        double gap;",
        "        compute(states[state], results);",
    ]
    for quantity, first, count in places:
        lines += [
            f"        gap = difference(results + {first}, expected[state] + {first}, {count});",
            f'        printf("state %d, {quantity}: %.1e\\n", state + 1, gap);',
            f"        failed |= !(gap <= {TEST_TOLERANCE:g});",
        ]
    lines += ["    }", "    return failed;", "}"]
    return "\n".join(lines) + "\n"


def _rows(table: np.ndarray) -> list[str]:
    lines = []
    for row in table:
        numbers = ", ".join(repr(float(value)) for value in row)
        lines += wrapped("{" + numbers + "},", "    ")
    return lines
