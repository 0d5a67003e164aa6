"""Recursive equations of a planar chain: accelerations outwards, forces and composite bodies inwards.

Every link has a frame D_i that turns without stretching. The direction of its x axis is D_i c_i, with c_i = 1 if frames
are rotations, and c_i = (1 + i s_1) ... (1 + i s_(i-1)) with the end slopes s if they are linear. The points of a link
are ``r_i + D_i c_i zeta(x)``, ``zeta = x - sum q_p Gamma_p + i sum delta_j phi_j``, where q_p is delta_j^2/2 or delta_j
delta_k. Everything beyond a link moves as one similar figure, so the inertia matrix needs only its mass M, first moment
S and second moment I about the next joint. F and N below are the force and the moment passed inwards, N with positions
divided by D_i c_i. Nothing is expanded: the number of operations grows linearly with the number of links for the
forces, and with its square for the inertia matrix.

Vectors of a link are in its frame D_i.
"""

from __future__ import annotations

import dataclasses
import functools
from collections.abc import Callable, Sequence

from jaxmodal.symbolic.graph import COSINE, SINE, Expression
from jaxmodal.symbolic.nomenclature import Nomenclature, ShapeConstants
from jaxmodal.symbolic.planar import Planar, Scalar, Truncated, across, along


@dataclasses.dataclass(frozen=True)
class Link:
    """One link at one instant, in scalars of one kind: whole or truncated expressions.

    ``zeta`` is its end and ``kappa`` the derivative of ``zeta`` with respect to each modal coordinate; ``stretch`` is 1
    + i slope, or None if frames are rotations; ``turn`` is the direction of D_i in the previous frame.
    """

    constants: ShapeConstants
    gram: list[list[Scalar]]
    slope: list[Scalar]
    deltas: list[Scalar]
    squares: list[Scalar]
    turn: Planar
    zeta: Planar
    kappa: list[Planar]
    stretch: Planar | None


class Chain:
    """Links of a model, prepared for the recursions.

    ``truncated`` keeps terms to first order in the modal coordinates; their rates count as order 0.
    """

    def __init__(self, names: Nomenclature, truncated: bool) -> None:
        self.names, self.truncated = names, truncated
        self.graph, self.model = names.graph, names.model
        self.n = self.model.num_links
        self.zero, self.one = self.lift(self.graph.zero), self.lift(self.graph.one)
        self.still = Planar(self.zero, self.zero)
        self.links: list[Link] = []
        for i in range(self.n):
            self.links.append(self._link(i))

    def lift(self, constant: Expression) -> Scalar:
        """Return a constant or a rate as a scalar of this chain."""
        return Truncated(constant, self.graph.zero) if self.truncated else constant

    def _bent(self, delta: Expression) -> Scalar:
        return Truncated(self.graph.zero, delta) if self.truncated else delta

    def total(self, terms: Sequence[Scalar]) -> Scalar:
        """Return the sum of scalars, 0 for an empty list."""
        return functools.reduce(lambda a, b: a + b, terms) if terms else self.zero

    def named(self, value: Planar, name: str) -> Planar:
        """Return the same vector with its parts labelled."""
        for part, axis in ((value.x, "x"), (value.y, "y")):
            self._label(part, f"{name}_{axis}")
        return value

    def _label(self, value: Scalar, name: str) -> Scalar:
        if self.truncated:
            self.graph.label(value.steady, f"{name}_0")
            self.graph.label(value.linear, f"{name}_1")
        else:
            self.graph.label(value, name)
        return value

    def _turn(self, angle: Expression, slope: Scalar) -> Planar:
        """Return the direction at an angle plus a slope."""
        graph = self.graph
        if self.truncated:
            cosine, sine = graph.function(COSINE, angle), graph.function(SINE, angle)
            return Planar(
                Truncated(cosine, -(sine * slope.linear)), Truncated(sine, cosine * slope.linear)
            )
        whole_angle = angle + slope
        return Planar(graph.function(COSINE, whole_angle), graph.function(SINE, whole_angle))

    def _link(self, i: int) -> Link:
        made = self.names.links[i]
        deltas = self.modal(self.names.coordinates, i, self._bent)
        rotation = self.model.frames == "rotation"
        carried = self._end_slope(self.links[-1]) if self.links and rotation else self.zero
        turn = self.named(self._turn(self.names.coordinates[i], carried), f"e_{i + 1}")
        tip = [self.lift(value) for value in made.tip]
        shorter = [
            self.total([self.lift(value) * delta for value, delta in zip(row, deltas, strict=True)])
            for row in made.shortening
        ] or [self.zero] * made.modes
        short = self.total([d * s for d, s in zip(deltas, shorter, strict=True)])
        zeta = Planar(
            self.lift(made.length) - 0.5 * short,
            self.total([value * delta for value, delta in zip(tip, deltas, strict=True)]),
        )
        link = Link(
            constants=made,
            gram=[[self.lift(value) for value in row] for row in made.gram],
            slope=[self.lift(value) for value in made.slope],
            deltas=deltas,
            squares=[(0.5 if j == k else 1.0) * (deltas[j] * deltas[k]) for j, k in made.pairs],
            turn=turn,
            zeta=self.named(zeta, f"zeta_{i + 1}"),
            kappa=[Planar(-s, value) for s, value in zip(shorter, tip, strict=True)],
            stretch=None,
        )
        if rotation:
            return link
        return dataclasses.replace(link, stretch=Planar(self.one, self._end_slope(link)))

    def _end_slope(self, link: Link) -> Scalar:
        return self.total([a * b for a, b in zip(link.slope, link.deltas, strict=True)])

    def modal(
        self, vector: Sequence[Expression], i: int, kind: Callable[[Expression], Scalar]
    ) -> list[Scalar]:
        """Return the entries of a vector over coordinates that belong to the modes of a link."""
        places = self.model.layout.places[i][: self.model.modes[i]]
        return [kind(vector[place]) for place in places]

    # inward recursion: forces from given accelerations

    def work(self, fields: Sequence[Sequence[Planar]]) -> list[Scalar]:
        """Return J^T G X for the coefficients X of the functions of every link: the forces on each coordinate."""
        rows: list[Scalar] = [self.zero] * self.model.num_coordinates
        beyond: tuple[Planar, Planar] | None = None
        axes = self.axes()
        for i in reversed(range(self.n)):
            link, field, made = self.links[i], fields[i], self.links[i].constants
            acting = [self._weighted(row, field) for row in link.gram]
            m = made.modes
            force = acting[0]
            moment = acting[1]
            own = []
            for j in range(m):
                by_mode = acting[2 + j]
                moment = moment - by_mode.turned.times(link.deltas[j])
                row = -by_mode.turned
                if made.pairs:
                    for k in range(m):
                        row = row - acting[made.function(j, k)].times(link.deltas[k])
                own.append(row)
            for p, square in enumerate(link.squares):
                moment = moment - acting[2 + m + p].times(square)
            if beyond is not None:
                outer = self.links[i + 1].turn * beyond[0]
                force = force + outer
                handed = beyond[1]
                moment = moment + link.zeta.conjugate * outer
                moment = moment + (
                    handed if link.stretch is None else link.stretch.conjugate * handed
                )
                for j in range(m):
                    own[j] = own[j] + link.kappa[j].conjugate * outer
                    own[j] = own[j] - handed.turned.times(link.slope[j])
            rows[i] = across(axes[i], moment)
            places = self.model.layout.places[i]
            for j in range(m):
                rows[places[j]] = along(axes[i], own[j])
            beyond = force, moment
        return rows

    def _weighted(self, row: Sequence[Scalar], field: Sequence[Planar]) -> Planar:
        terms = [part.times(factor) for part, factor in zip(field, row, strict=True)]
        return functools.reduce(lambda a, b: a + b, terms)

    def axes(self) -> list[Planar]:
        """Return c_i of every link."""
        found = [Planar(self.one, self.zero)]
        for link in self.links[:-1]:
            found.append(found[-1] if link.stretch is None else found[-1] * link.stretch)
        return found

    # inertia matrix by composite bodies

    def inertia(self) -> list[list[Scalar]]:
        """Return the translational part of B, as a full symmetric matrix."""
        size = self.model.num_coordinates
        table: list[list[Scalar]] = [[self.zero] * size for _ in range(size)]
        squares = [along(axis, axis) for axis in self.axes()]
        mass, first, second = self.zero, self.still, self.zero
        for i in reversed(range(self.n)):
            link, m = self.links[i], self.links[i].constants.modes
            places = [int(place) for place in self.model.layout.places[i][:m]]
            outer = self.links[i + 1].turn * first if i + 1 < self.n else self.still
            stretched = outer if link.stretch is None else link.stretch * outer
            size_of = self.one if link.stretch is None else along(link.stretch, link.stretch)
            own = self._moments(link)
            columns = []
            for j in range(m):
                momentum, spin, products = self._column(link, j, own)
                push = link.kappa[j].times(mass) + outer.turned.times(link.slope[j])
                swing = outer.conjugate * link.kappa[j] + Planar(self.zero, link.slope[j] * second)
                momentum = momentum + push
                spin = spin + link.zeta.conjugate * push
                spin = spin + (swing if link.stretch is None else link.stretch.conjugate * swing)
                for k in range(j, m):
                    entry = products[k] + along(link.kappa[k], push) + link.slope[k] * swing.y
                    table[places[j]][places[k]] = table[places[k]][places[j]] = squares[i] * entry
                table[i][places[j]] = table[places[j]][i] = squares[i] * spin.y
                columns.append((places[j], momentum, spin))
            # everything beyond the base of this link, the link included
            whole_moment = own[0] + link.zeta.times(mass) + stretched
            inertia = self._second_moment(link, own)
            inertia = inertia + mass * along(link.zeta, link.zeta)
            second = inertia + 2.0 * along(link.zeta, stretched) + size_of * second
            mass = link.gram[0][0] + mass
            first = self.named(whole_moment, f"S_{i + 1}")
            self._label(second, f"I_{i + 1}")
            table[i][i] = squares[i] * second
            columns.append((i, first.turned, Planar(self.zero, second)))
            for place, momentum, spin in columns:
                self._hand_inwards(table, squares, i, place, momentum, spin)
        return table

    def _moments(self, link: Link) -> list[Planar]:
        """Return the integral of each function times zeta over a link."""
        m = link.constants.modes
        found = []
        for row in link.gram:
            shorter = [row[2 + m + p] * square for p, square in enumerate(link.squares)]
            bent = [row[2 + j] * link.deltas[j] for j in range(m)]
            found.append(Planar(row[1] - self.total(shorter), self.total(bent)))
        return found

    def _second_moment(self, link: Link, own: Sequence[Planar]) -> Scalar:
        m = link.constants.modes
        terms = [own[1].x]
        terms += [-(square * own[2 + m + p].x) for p, square in enumerate(link.squares)]
        terms += [delta * own[2 + j].y for j, delta in enumerate(link.deltas)]
        return self.total(terms)

    def _column(
        self, link: Link, j: int, own: Sequence[Planar]
    ) -> tuple[Planar, Planar, list[Scalar]]:
        """Return momentum, moment of momentum, and products with the modes of the link, for mode j alone."""
        made, m = link.constants, link.constants.modes
        functions = [made.function(j, k) for k in range(m)] if made.pairs else []

        def weighted(a: int) -> Planar:
            shorter = [link.gram[a][p] * link.deltas[k] for k, p in enumerate(functions)]
            return Planar(-self.total(shorter), link.gram[a][2 + j])

        spin = own[2 + j].conjugate.turned
        for k, p in enumerate(functions):
            spin = spin - own[p].conjugate.times(link.deltas[k])
        products = []
        for k in range(m):
            product = link.gram[2 + k][2 + j]
            if made.pairs and k >= j:
                terms = [link.deltas[a] * weighted(made.function(k, a)).x for a in range(m)]
                product = product - self.total(terms)
            products.append(product)
        return weighted(0), spin, products

    def _hand_inwards(
        self,
        table: list[list[Scalar]],
        squares: Sequence[Scalar],
        i: int,
        place: int,
        momentum: Planar,
        spin: Planar,
    ) -> None:
        """Fill the entries of one column for the coordinates of the links before link i."""
        for inner in reversed(range(i)):
            link = self.links[inner]
            momentum = self.links[inner + 1].turn * momentum
            handed = spin
            if link.stretch is not None:
                momentum = link.stretch * momentum
                handed = link.stretch * spin
                spin = link.stretch.conjugate * handed
            for j, other in enumerate(self.model.layout.places[inner][: link.constants.modes]):
                entry = along(link.kappa[j], momentum) + link.slope[j] * handed.y
                table[other][place] = table[place][other] = squares[inner] * entry
            spin = link.zeta.conjugate * momentum + spin
            table[inner][place] = table[place][inner] = squares[inner] * spin.y
