"""The explicit two-link model of De Luca and Siciliano (1991): eqs (32)-(35) with the coefficients of their appendix.

Written out from the paper in NumPy, as a check that shares no line with the library. Coefficients are as printed but
for these, which cannot be right: h107 lacks a factor 2; h117 and h118 have the wrong sign; h412 and h413 have each
other's phi'; and b331, b441, b341 hold only where shapes are orthonormal with what stands beyond them.
"""

import numpy as np


def mended(coefficients):
    """The printed coefficients with the misprints put right."""
    names = dict(coefficients)
    names["h107"] *= 2.0
    names["h117"], names["h118"] = -names["h117"], -names["h118"]
    names["h412"], names["h413"] = names["h413"], names["h412"]
    return names


def printed_coefficients(p):
    """All b, t and h of the appendix from the parameters ``p`` by the paper's names."""
    l1, l2 = p["l1"], p["l2"]
    reach = p["m2"] * p["d2"] + p["mp"] * l2
    outer = p["Jh2"] + p["Jo2"] + p["Jp"] + p["mp"] * l2**2
    mass = p["mh2"] + p["m2"] + p["mp"]
    e, s = p["phi1e"], p["dphi1e"]  # end values of the shapes of link 1
    v = p["v2"] + p["mp"] * p["phi2e"]
    w = p["w2"] + p["Jp"] * p["dphi2e"] + p["mp"] * l2 * p["phi2e"]
    cross = e[0] * s[1] - e[1] * s[0]
    both = e[0] * s[1] + e[1] * s[0]
    c = {
        "b111": p["Jh1"] + p["Jo1"] + p["Jh2"] + p["mh2"] * l1**2 + p["Jo2"] + p["m2"] * l1**2
        + p["Jp"] + p["mp"] * (l1**2 + l2**2),
        "b112": 2 * reach * l1, "b113": 2 * reach, "b114": -2 * l1,
        "b121": outer, "b122": reach * l1, "b123": reach, "b124": -l1,
        "b131": p["w1"][0] + outer * s[0] + mass * l1 * e[0], "b132": reach * (e[0] + l1 * s[0]),
        "b133": -(e[0] + l1 * s[0]), "b134": -reach * cross,
        "b141": p["w1"][1] + outer * s[1] + mass * l1 * e[1], "b142": reach * (e[1] + l1 * s[1]),
        "b143": -(e[1] + l1 * s[1]), "b144": reach * cross,
        "b151": w[0], "b152": v[0] * l1, "b153": v[0], "b161": w[1], "b162": v[1] * l1, "b163": v[1],
        "b221": outer, "b231": outer * s[0], "b232": reach * e[0], "b233": -e[0], "b234": -reach * e[0],
        "b241": outer * s[1], "b242": reach * e[1], "b243": -e[1], "b244": -reach * e[1],
        "b251": w[0], "b261": w[1],
        "b331": p["m1"], "b332": 2 * reach * e[0] * s[0], "b333": -2 * e[0] * s[0],
        "b341": 0.0, "b342": reach * both, "b343": -both,
        "b351": w[0] * s[0], "b352": v[0] * e[0], "b353": -v[0] * e[0],
        "b361": w[1] * s[0], "b362": v[1] * e[0], "b363": -v[1] * e[0],
        "b441": p["m1"], "b442": 2 * reach * e[1] * s[1], "b443": -2 * e[1] * s[1],
        "b451": w[0] * s[1], "b452": v[0] * e[1], "b453": -v[0] * e[1],
        "b461": w[1] * s[1], "b462": v[1] * e[1], "b463": -v[1] * e[1],
        "b551": p["m2"], "b561": 0.0, "b661": p["m2"],
        "t11": e[0] - l1 * s[0], "t12": e[1] - l1 * s[1], "t21": v[0], "t22": v[1], "t31": s[0], "t32": s[1],
        "h101": -2 * reach * l1, "h102": 2 * reach * (e[0] - l1 * s[0]), "h103": 2 * reach * (e[1] - l1 * s[1]),
        "h104": -2 * v[0] * l1, "h105": -2 * v[1] * l1, "h106": -reach * l1, "h107": -reach * l1 * s[0],
        "h108": -2 * reach * l1 * s[1], "h109": -2 * v[0] * l1, "h110": -2 * v[1] * l1,
        "h111": -2 * v[0] * l1 * s[0], "h112": -2 * v[1] * l1 * s[0],
        "h113": -2 * v[0] * l1 * s[1], "h114": -2 * v[1] * l1 * s[1],
        "h115": 2 * reach, "h116": reach, "h117": -v[0], "h118": -v[1], "h119": -2 * l1, "h120": -l1,
        "h121": -(e[0] + l1 * s[0]), "h122": -(e[1] + l1 * s[1]), "h123": -reach * cross, "h124": reach * cross,
        "h201": reach * l1, "h202": 2 * reach * e[0], "h203": 2 * reach * e[1], "h204": -reach,
        "h205": -v[0], "h206": -v[1], "h207": l1, "h208": e[0] + l1 * s[0], "h209": e[1] + l1 * s[1],
        "h210": reach * cross, "h211": -reach * cross, "h212": e[0] * s[0], "h213": both,
        "h214": v[0] * e[0], "h215": v[1] * e[0], "h216": e[1] * s[1], "h217": v[0] * e[1], "h218": v[1] * e[1],
        "h501": v[0] * l1, "h502": 2 * v[0] * e[0], "h503": 2 * v[0] * e[1], "h504": v[0],
        "h505": -v[0] * e[0], "h506": -v[0] * e[1],
        "h601": v[1] * l1, "h602": 2 * v[1] * e[0], "h603": 2 * v[1] * e[1], "h604": v[1],
        "h605": -v[1] * e[0], "h606": -v[1] * e[1],
    }  # fmt: skip
    for row, own, other in (("3", 0, 1), ("4", 1, 0)):
        a, b, x, y = e[own], e[other], s[own], s[other]
        c |= {
            f"h{row}01": -reach * (a - l1 * x), f"h{row}02": -2 * reach * a, f"h{row}03": 2 * reach * (b * x - a * y),
            f"h{row}04": -2 * v[0] * a, f"h{row}05": -2 * v[1] * a, f"h{row}06": -reach * a,
            f"h{row}07": -2 * reach * a * s[0], f"h{row}08": -2 * reach * a * s[1],
            f"h{row}09": -2 * v[0] * a, f"h{row}10": -2 * v[1] * a,
            f"h{row}11": -2 * v[0] * a * s[0], f"h{row}12": -2 * v[1] * a * s[0],
            f"h{row}13": -2 * v[0] * a * s[1], f"h{row}14": -2 * v[1] * a * s[1],
            f"h{row}15": -(a + l1 * x), f"h{row}16": -a,
            f"h{row}17": -2 * a * s[0] if own == 0 else -both, f"h{row}18": -both if own == 0 else -2 * a * s[1],
            f"h{row}19": -reach * a, f"h{row}20": -v[0] * a, f"h{row}21": -v[1] * a,
            f"h{row}22": -reach * (a * y - b * x),
        }  # fmt: skip
    c["h412"], c["h413"] = c["h413"], c["h412"]  # as printed
    return c


def inertia(c, q):
    """Eqs (32), (33)."""
    sine, cosine = np.sin(q[1]), np.cos(q[1])
    d11, d12, d21, d22 = q[2:]
    t1, t2 = c["t11"] * d11 + c["t12"] * d12, c["t21"] * d21 + c["t22"] * d22
    t3 = c["t31"] * d11 + c["t32"] * d12
    entries = {}
    for name in (
        "11",
        "12",
        "13",
        "14",
        "15",
        "16",
        "23",
        "24",
        "33",
        "34",
        "35",
        "36",
        "44",
        "45",
        "46",
    ):
        entries[name] = c[f"b{name}1"] + c[f"b{name}2"] * cosine
    for name in ("11", "12"):
        entries[name] += (c[f"b{name}3"] * t1 + c[f"b{name}4"] * t2) * sine
    entries["13"] += (c["b133"] * t2 + c["b134"] * d12) * sine
    entries["14"] += (c["b143"] * t2 + c["b144"] * d11) * sine
    for name in ("15", "16"):
        entries[name] += c[f"b{name}3"] * t1 * sine
    for name in ("23", "24"):
        entries[name] += (c[f"b{name}3"] * t2 + c[f"b{name}4"] * t3) * sine
    for name in ("33", "34", "44"):
        entries[name] += c[f"b{name}3"] * t2 * sine
    for name in ("35", "36", "45", "46"):
        entries[name] += c[f"b{name}3"] * t3 * sine
    for name in ("22", "25", "26", "55", "56", "66"):
        entries[name] = c[f"b{name}1"]
    matrix = np.zeros((6, 6))
    for name, value in entries.items():
        i, j = int(name[0]) - 1, int(name[1]) - 1
        matrix[i, j] = matrix[j, i] = value
    return matrix


def velocity_forces(c, q, rate):
    """Eq (34)."""
    sine, cosine = np.sin(q[1]), np.cos(q[1])
    d11, d12, d21, d22 = q[2:]
    a1, a2, r11, r12, r21, r22 = rate
    t1, t2 = c["t11"] * d11 + c["t12"] * d12, c["t21"] * d21 + c["t22"] * d22
    t3 = c["t31"] * d11 + c["t32"] * d12

    def total(row, numbers, values):
        return sum(c[f"h{row}{k:02d}"] * x for k, x in zip(numbers, values, strict=True))

    h1 = (
        total(1, range(1, 6), (a2, r11, r12, r21, r22)) * a1
        + total(1, range(6, 11), (a2, r11, r12, r21, r22)) * a2
        + total(1, (11, 12), (r21, r22)) * r11
        + total(1, (13, 14), (r21, r22)) * r12
    ) * sine + (
        total(1, range(15, 19), (a1, a2, r21, r22)) * t1
        + total(1, range(19, 23), (a1, a2, r11, r12)) * t2
        + total(1, (23, 24), (d12 * r11, d11 * r12))
    ) * a2 * cosine
    h2 = (
        total(2, (1, 2, 3), (a1, r11, r12)) * a1 * sine
        + (
            (
                total(2, (4, 5, 6), (a1, r21, r22)) * t1
                + total(2, (7, 8, 9), (a1, r11, r12)) * t2
                + total(2, (10, 11), (d12 * r11, d11 * r12))
            )
            * a1
            + (total(2, (12, 13), (r11, r12)) * t2 + total(2, (14, 15), (r21, r22)) * t3) * r11
            + (c["h216"] * r12 * t2 + total(2, (17, 18), (r21, r22)) * t3) * r12
        )
        * cosine
    )
    rows = [h1, h2]
    for row, mine, others in ((3, d12, r12), (4, d11, r11)):
        rows.append(
            (
                total(row, range(1, 6), (a1, a2, others, r21, r22)) * a1
                + total(row, range(6, 11), (a2, r11, r12, r21, r22)) * a2
                + total(row, (11, 12), (r21, r22)) * r11
                + total(row, (13, 14), (r21, r22)) * r12
            )
            * sine
            + (
                total(row, range(15, 19), (a1, a2, r11, r12)) * t2
                + total(row, (19, 20, 21), (a2, r21, r22)) * t3
                + c[f"h{row}22"] * mine * a1
            )
            * a2
            * cosine
        )
    for row in (5, 6):
        rows.append(
            total(row, (1, 2, 3), (a1, r11, r12)) * a1 * sine
            + (c[f"h{row}04"] * t1 * a1 + total(row, (5, 6), (r11, r12)) * t3) * a2 * cosine
        )
    return np.array(rows)
