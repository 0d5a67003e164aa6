/* How many natural frequencies of an arm lie below a frequency, in 113-bit floats: what `cross_check` trusts.

Another formulation than the library's, and no closed form of it. A member is its transfer matrix, the exponential of
the first-order field equations, by Taylor's series over a piece so short that no wave number exceeds 1.5; pieces are
joined by doubling. Its dynamic stiffness between two ends that are both held joins the arm, and every motion that is
let go is eliminated with pivots: the negative ones are counted (W. H. Wittrick and F. W. Williams, Q. J. Mech. Appl.
Math. 24, 1971, 263-284). Rigid supports are rows of constraints. Digits that this loses near the resonances of held
members and at low frequency are what the 34 digits are for.

Field equations over x in [0, 1], w the deflection, f the rotation, m and q moment and transverse force, all made
dimensionless by L and E I; h = 1/(1 + n s2), n the axial force at rest:
    w' = h (f + s2 q),   f' = m,   m' = -h q + (n h - b2 r2) f,   q' = -b2 w
*/
#include <math.h>
#include <quadmath.h>
#include <string.h>

typedef __float128 real;

/* values of one link, in the order of `extended_counts.FIELDS` */
enum {
    LENGTH, YOUNG, AREA, SECOND, DENSITY, SPREAD_MASS, SHEAR, MASS, INERTIA, ANGLE, SPRING, AXIAL_SPRING, SHEAR_SPRING,
    HUB_MASS, HUB_INERTIA, ROTOR, GEAR, BASE_X, BASE_Y, END_X, END_Y, MOMENT_X, MOMENT_Y, FLEXIBLE, HOLD_X, HOLD_Y,
    HOLD_TURN, GROUND, FORCE, BASE_TURNING, END_TURNING, XX, XY, XR, YY, YR, RR, FIELDS
};

#define MOST 12
#define LONGEST 1.5Q
#define TERMS 21

/* Eliminate the last `own` of `size` unknowns of a symmetric matrix, with pivots; how many are negative, -1 for none. */
static int eliminated(real a[MOST][MOST], int size, int own)
{
    int kept = size - own, negative = 0, left[MOST], n = own;
    double scale[MOST];
    for (int i = 0; i < own; i++) {
        left[i] = kept + i;
        scale[kept + i] = 1.0;
    }
    for (int sweep = 0; sweep < 3; sweep++)
        for (int i = kept; i < size; i++) {
            double most = 0.0;
            for (int j = kept; j < size; j++) {
                double x = fabs((double)a[i][j]) * scale[i] * scale[j];
                if (x > most) most = x;
            }
            if (most > 0.0) scale[i] /= sqrt(most);
        }
    while (n > 0) {
        /* the largest entry on and beside the diagonal, scaled */
        double diagonal = -1.0, beside = -1.0;
        int at = 0, row = 0, column = 0;
        for (int i = 0; i < n; i++)
            for (int j = 0; j <= i; j++) {
                double x = fabs((double)a[left[i]][left[j]]) * scale[left[i]] * scale[left[j]];
                if (i == j && x > diagonal) { diagonal = x; at = i; }
                if (i != j && x > beside) { beside = x; row = i; column = j; }
            }
        if (!(diagonal > 0.0) && !(beside > 0.0)) return -1;
        if (diagonal >= 0.64 * beside) {
            int p = left[at];
            left[at] = left[--n];
            real by = 1 / a[p][p];
            if (a[p][p] < 0) negative++;
            for (int phase = 0; phase < 2; phase++) {
                int count = phase ? n : kept;
                for (int i = 0; i < count; i++) {
                    int r = phase ? left[i] : i;
                    if (a[r][p] == 0) continue;
                    real share = a[r][p] * by;
                    for (int c = 0; c < kept; c++) {
                        if (phase) break;
                        a[r][c] -= share * a[p][c];
                    }
                    for (int k = 0; k < n; k++) {
                        a[r][left[k]] -= share * a[p][left[k]];
                        if (!phase) a[left[k]][r] = a[r][left[k]];
                    }
                }
            }
        } else {
            int p = left[row], q = left[column], high = row > column ? row : column, low = row + column - high;
            left[high] = left[--n];
            left[low] = left[--n];
            real x = a[p][p], y = a[q][q], z = a[p][q], det = x * y - z * z;
            if (det < 0) negative++;
            else if (x + y < 0) negative += 2;
            int all[MOST], count = 0;
            for (int c = 0; c < kept; c++) all[count++] = c;
            for (int k = 0; k < n; k++) all[count++] = left[k];
            for (int i = 0; i < count; i++) {
                int r = all[i];
                real u = (a[r][p] * y - a[r][q] * z) / det, v = (a[r][q] * x - a[r][p] * z) / det;
                for (int j = 0; j <= i; j++) {
                    int c = all[j];
                    a[r][c] -= u * a[p][c] + v * a[q][c];
                    a[c][r] = a[r][c];
                }
            }
        }
    }
    return negative;
}

/* A member of bending between two ends: [[a, c], [c, d]] at the first, c with the other sign at the second, and
   [[e, f], [-f, g]] between; `count` of its frequencies with both ends held lie below. */
typedef struct { real a, c, d, e, f, g; int count; } member;

/* 1/i */
static real reciprocal[2 * TERMS + 1];

__attribute__((constructor)) static void divide(void)
{
    for (int i = 1; i <= 2 * TERMS; i++) reciprocal[i] = 1 / (real)i;
}

/* The dynamic stiffness of a piece of length t, by its transfer matrix. */
static member piece(real b2, real r2, real s2, real n, real t)
{
    real h = 1 / (1 + n * s2), turning = n * h - b2 * r2;
    /* states (w, m) and (f, q): A = [[0, B], [C, 0]], X = B C */
    real x11 = -b2 * h * s2, x12 = h, x21 = b2 * h, x22 = turning;
    real trace = x11 + x22, det = x11 * x22 - x12 * x21, t2 = t * t;
    real p = 1, q = 0, term = 1, c0 = 0, c1 = 0, s0 = 0, s1 = 0;
    /* X^j = p + q X; the eigenvalues of X t^2 are 1.5^2 at most, and the last term below 1e-41 */
    for (int j = 0; j < TERMS; j++) {
        real odd = term * t * reciprocal[2 * j + 1], next = -q * det;
        c0 += p * term; c1 += q * term; s0 += p * odd; s1 += q * odd;
        term *= t2 * reciprocal[2 * j + 1] * reciprocal[2 * j + 2];
        q = p + q * trace;
        p = next;
    }
    /* cosh and sinh of the root of X, S = s0 + s1 X */
    real s_ww = s0 + s1 * x11, s_wm = s1 * x12, s_mw = s1 * x21, s_mm = s0 + s1 * x22;
    real w_m = c1 * x12, m_m = c0 + c1 * x22, w_q = s_ww * h * s2 - s_wm * h, m_q = s_mw * h * s2 - s_mm * h;
    /* Y = C B over (f, q), with the same powers; f' = m, q' = -b2 w */
    real f_q = -c1 * h, q_q = c0 - c1 * b2 * h * s2, f_m = s_mm, q_m = -b2 * s_wm;
    /* (w, f) at the end from (q, m) at the start, inverted; (q, m) at the end from (q, m) at the start */
    real det12 = w_q * f_m - w_m * f_q;
    real i_qw = f_m / det12, i_qf = -w_m / det12, i_mw = -f_q / det12, i_mf = w_q / det12;
    member k;
    real k_ww = q_q * i_qw + q_m * i_mw, k_wf = q_q * i_qf + q_m * i_mf;
    real k_ff = m_q * i_qf + m_m * i_mf;
    k.a = k_ww; k.c = -k_wf; k.d = k_ff;
    /* force at the first end is minus that inside: between the ends -T12^-1, rows (w, f) of the first end */
    k.e = -i_qw; k.f = -i_qf; k.g = -i_mf;
    k.count = 0;
    return k;
}

/* Frequencies of a piece with both ends held: none where energies say so, else those of its halves and of their middle. */
static int held(real b2, real r2, real s2, real n, real t, int deep)
{
    const real pi2 = M_PIq * M_PIq;
    real wave = pi2 / (t * t), squeezed = n < 0 ? -n : 0;
    if (s2 == 0) {
        if (4 * wave + n - b2 * r2 > b2 / wave && 4 * wave > squeezed + b2 * r2) return 0;
    } else {
        /* simply supported with one half wave, and the frequencies of pure shear */
        real x = (1 / s2 + n) * wave - b2, y = wave + 1 / s2 - b2 * r2;
        if (1 / s2 - b2 * r2 > 0 && 1 / s2 + n > 0 && x > 0 && x * y > wave / (s2 * s2)) return 0;
        if (wave > 1 / s2 + b2 * r2 && (1 / (2 * s2) - squeezed) * wave > b2) return 0;
    }
    if (deep > 60) return -1000000;
    member half = piece(b2, r2, s2, n, t / 2);
    int inner = held(b2, r2, s2, n, t / 2, deep + 1);
    return 2 * inner + (half.a < 0) + (half.d < 0);
}

static member bending(real b2, real r2, real s2, real n)
{
    /* the larger wave number of v'''' + (...) v'' - (...) v = 0 */
    real h = 1 / (1 + n * s2);
    real sum = b2 * s2 * h + b2 * r2 - n * h, product = b2 * h * (1 - b2 * r2 * s2);
    real root = sqrtq(sum * sum + 4 * fabsq(product));
    real longest = sqrtq((fabsq(sum) + root) / 2);
    int doublings = 0;
    real t = 1;
    while (longest * t > LONGEST && doublings < 40) { t /= 2; doublings++; }
    member k = piece(b2, r2, s2, n, t);
    k.count = held(b2, r2, s2, n, t, 0);
    for (; doublings > 0; doublings--) {
        member o = k;
        real u = 1 / (2 * o.a), v = 1 / (2 * o.d);
        k.count = 2 * o.count + (o.a < 0) + (o.d < 0);
        k.a = o.a - (o.e * o.e * u + o.f * o.f * v);
        k.c = o.c - (-o.e * o.f * u + o.f * o.g * v);
        k.d = o.d - (o.f * o.f * u + o.g * o.g * v);
        k.e = -(o.e * o.e * u - o.f * o.f * v);
        k.f = -(o.e * o.f * u + o.f * o.g * v);
        k.g = -(o.g * o.g * v - o.f * o.f * u);
    }
    return k;
}

/* A bar with both ends held: stiffness at an end and between the ends. */
static long stretching(real omega, real length, real rigidity, real mass, real *own, real *between)
{
    real mu = omega * length * sqrtq(mass / rigidity), sine, cosine;
    sincosq(mu, &sine, &cosine);
    *own = rigidity / length * mu * cosine / sine;
    *between = -rigidity / length * mu / sine;
    return (long)floorq(mu / M_PIq);
}

typedef real stiffness[3][3];

/* G^T W G for a point from which that of W is seen at (x, y). */
static void shift(stiffness w, real x, real y)
{
    if (x == 0 && y == 0) return;
    for (int i = 0; i < 3; i++) w[i][2] += x * w[i][1] - y * w[i][0];
    for (int i = 0; i < 3; i++) w[2][i] += x * w[1][i] - y * w[0][i];
}

static void body(stiffness w, real o2, real mass, real inertia, real x, real y)
{
    w[0][0] -= o2 * mass;
    w[1][1] -= o2 * mass;
    w[2][2] -= o2 * inertia;
    w[0][2] += o2 * y; w[2][0] += o2 * y;
    w[1][2] -= o2 * x; w[2][1] -= o2 * x;
}

/* A spring k in series in direction e; 1 where the motion beyond it has a negative stiffness. */
static int series(stiffness w, int e, real k)
{
    real pivot = w[e][e] + k, own = w[e][e];
    real row[3] = {w[e][0], w[e][1], w[e][2]};
    for (int i = 0; i < 3; i++)
        for (int j = 0; j < 3; j++)
            if (i != e && j != e) w[i][j] -= row[i] * row[j] / pivot;
    for (int i = 0; i < 3; i++)
        if (i != e) w[i][e] = w[e][i] = row[i] * k / pivot;
    w[e][e] = k * own / pivot;
    return pivot < 0;
}

static void turn(stiffness w, real s, real c)
{
    real t[3][3] = {{c, s, 0}, {-s, c, 0}, {0, 0, 1}}, m[3][3];
    for (int i = 0; i < 3; i++)
        for (int j = 0; j < 3; j++) m[i][j] = w[i][0] * t[0][j] + w[i][1] * t[1][j] + w[i][2] * t[2][j];
    for (int i = 0; i < 3; i++)
        for (int j = 0; j < 3; j++) w[i][j] = t[0][i] * m[0][j] + t[1][i] * m[1][j] + t[2][i] * m[2][j];
}

/* J(omega) of one arm of n links; values[n][FIELDS]; -1 where a pivot is exactly zero. */
static long below(int n, const double *values, int has_shear, int has_rotary, int has_axial, real omega)
{
    stiffness w;
    memset(w, 0, sizeof w);
    real o2 = omega * omega;
    long count = 0;
    for (int i = n - 1; i >= 0; i--) {
        const double *v = values + i * FIELDS;
        real length = v[LENGTH], force = v[FORCE];
        real mass = (real)v[DENSITY] * v[AREA] + v[SPREAD_MASS], rotary = has_rotary ? (real)v[DENSITY] * v[SECOND] : 0;
        body(w, o2, v[MASS], v[INERTIA], v[MOMENT_X], v[MOMENT_Y]);
        w[2][2] += v[END_TURNING];
        /* supports along the ground's axes, in those of the link */
        real rows[3][3];
        int rigid = 0, supported = v[HOLD_X] != 0.0 || v[HOLD_Y] != 0.0 || v[HOLD_TURN] != 0.0;
        real s = supported ? sinq(v[GROUND]) : 0, c = supported ? cosq(v[GROUND]) : 1;
        real along[3][3] = {{c, -s, 0}, {s, c, 0}, {0, 0, 1}};
        for (int k = 0; supported && k < 3; k++) {
            double spring = v[HOLD_X + k];
            if (spring == 0.0) continue;
            if (isinf(spring)) {
                real *g = rows[rigid++];
                for (int a = 0; a < 3; a++) g[a] = along[k][a];
                g[2] += (real)v[END_X] * g[1] - (real)v[END_Y] * g[0];
            } else
                for (int a = 0; a < 3; a++)
                    for (int b = 0; b < 3; b++) w[a][b] += (real)spring * along[k][a] * along[k][b];
        }
        shift(w, v[END_X], v[END_Y]);
        if (v[FLEXIBLE] == 0.0) {
            if (rigid) return -2;
            shift(w, length, 0);
            real third = length * length * length * mass / 3;
            body(w, o2, mass * length, third + rotary * length, length * length * mass / 2, 0);
            w[2][2] += force * length;
        } else {
            real rigidity = (real)v[YOUNG] * v[SECOND], l2 = length * length;
            real b2 = o2 * mass * l2 * l2 / rigidity, tension = force * l2 / rigidity;
            real r2 = rotary / (mass * l2);
            real s2 = has_shear && isfinite(v[SHEAR]) ? rigidity / ((real)v[SHEAR] * v[AREA] * l2) : 0;
            member k = bending(b2, r2, s2, tension);
            count += k.count;
            real across = rigidity / (l2 * length), mixed = rigidity / l2, about = rigidity / length;
            real a[MOST][MOST];
            memset(a, 0, sizeof a);
            int outer = has_axial ? 6 : 5, size = outer + rigid;
            int at[3] = {has_axial ? 3 : 0, has_axial ? 4 : 3, has_axial ? 5 : 4};
            if (has_axial) {
                count += stretching(omega, length, (real)v[YOUNG] * v[AREA], mass, &a[0][0], &a[0][3]);
                a[3][3] = a[0][0];
                a[3][0] = a[0][3];
            } else
                a[0][0] = -o2 * mass * length;
            a[1][1] += k.a * across; a[1][2] += k.c * mixed; a[2][1] += k.c * mixed; a[2][2] += k.d * about;
            int y = at[1], p = at[2];
            a[y][y] += k.a * across; a[y][p] -= k.c * mixed; a[p][y] -= k.c * mixed; a[p][p] += k.d * about;
            a[1][y] = a[y][1] = k.e * across;
            a[1][p] = a[p][1] = k.f * mixed;
            a[2][y] = a[y][2] = -k.f * mixed;
            a[2][p] = a[p][2] = k.g * about;
            for (int r = 0; r < 3; r++)
                for (int q = 0; q < 3; q++) a[at[r]][at[q]] += w[r][q];
            for (int r = 0; r < rigid; r++)
                for (int q = 0; q < 3; q++) a[outer + r][at[q]] = a[at[q]][outer + r] = rows[r][q];
            int negative = eliminated(a, size, size - 3);
            if (negative < 0) return -1;
            count += negative - rigid;
            for (int r = 0; r < 3; r++)
                for (int q = 0; q < 3; q++) w[r][q] = a[r][q];
        }
        shift(w, v[BASE_X], v[BASE_Y]);
        w[2][2] += v[BASE_TURNING];
        body(w, o2, v[HUB_MASS], v[HUB_INERTIA], 0, 0);
        real gear = v[GEAR], rotor = v[ROTOR];
        w[2][2] -= o2 * gear * rotor;
        if (isfinite(v[SPRING])) count += series(w, 2, (real)v[SPRING] - o2 * gear * (gear - 1) * rotor);
        if (isfinite(v[AXIAL_SPRING])) count += series(w, 0, v[AXIAL_SPRING]);
        if (isfinite(v[SHEAR_SPRING])) count += series(w, 1, v[SHEAR_SPRING]);
        w[2][2] -= o2 * (1 - gear) * rotor;
        real sine, cosine;
        sincosq(v[ANGLE], &sine, &cosine);
        turn(w, sine, cosine);
    }
    const double own[3] = {values[XX], values[YY], values[RR]};
    const double base[3][3] = {{0, values[XY], values[XR]}, {values[XY], 0, values[YR]}, {values[XR], values[YR], 0}};
    real a[MOST][MOST];
    int place[3], size = 0;
    for (int r = 0; r < 3; r++)
        if (isfinite(own[r])) place[size++] = r;
    for (int r = 0; r < size; r++)
        for (int q = 0; q < size; q++) {
            int x = place[r], y = place[q];
            a[r][q] = w[x][y] + (x == y ? own[x] : base[x][y]);
        }
    if (size) {
        int negative = eliminated(a, size, size);
        if (negative < 0) return -1;
        count += negative;
    }
    return count;
}

/* values of one link in space, in the order of `extended_counts.FIELDS_IN_SPACE` */
enum {
    S_LENGTH, S_YOUNG, S_SHEAR, S_DENSITY, S_AREA, S_SECOND_Y, S_SECOND_Z, S_TORSION, S_KAPPA_Y, S_KAPPA_Z, S_ANGLE,
    S_AXIS_X, S_AXIS_Y, S_AXIS_Z, S_SPRING, S_MASS, S_INERTIA_X, S_INERTIA_Y, S_INERTIA_Z, FIELDS_IN_SPACE
};

/* J(omega) of one arm in space over (u, v, w, turns about x, y, z): bodies centred at the tips, springs about the axes. */
static long below_in_space(int n, const double *values, int has_shear, int has_rotary, int has_axial, real omega)
{
    real w[6][6], o2 = omega * omega;
    long count = 0;
    memset(w, 0, sizeof w);
    for (int i = n - 1; i >= 0; i--) {
        const double *v = values + i * FIELDS_IN_SPACE;
        real length = v[S_LENGTH], mass = (real)v[S_DENSITY] * v[S_AREA], a[MOST][MOST];
        int at[6] = {6, 7, 8, 9, 10, 11}, size = 12;
        for (int k = 0; k < 3; k++) {
            w[k][k] -= o2 * v[S_MASS];
            w[3 + k][3 + k] -= o2 * v[S_INERTIA_X + k];
        }
        memset(a, 0, sizeof a);
        if (has_axial) {
            count += stretching(omega, length, (real)v[S_YOUNG] * v[S_AREA], mass, &a[0][0], &a[0][6]);
            a[6][6] = a[0][0];
            a[6][0] = a[0][6];
        } else {
            for (int k = 1; k < 6; k++) at[k]--;
            at[0] = 0;
            size = 11;
            a[0][0] = -o2 * mass * length;
        }
        int t = at[3];
        real polar = (real)v[S_DENSITY] * ((real)v[S_SECOND_Y] + v[S_SECOND_Z]);
        count += stretching(omega, length, (real)v[S_SHEAR] * v[S_TORSION], polar, &a[3][3], &a[3][t]);
        a[t][t] = a[3][3];
        a[t][3] = a[3][t];
        for (int plane = 0; plane < 2; plane++) {
            /* (v, turn about z), then (w, minus the turn about y) */
            int y0 = 1 + plane, p0 = 5 - plane, y1 = at[y0], p1 = at[p0];
            real second = plane ? v[S_SECOND_Y] : v[S_SECOND_Z], kappa = plane ? v[S_KAPPA_Z] : v[S_KAPPA_Y];
            real rigidity = (real)v[S_YOUNG] * second, l2 = length * length, sign = plane ? -1 : 1;
            real r2 = has_rotary ? (real)v[S_DENSITY] * second / (mass * l2) : 0;
            real s2 = has_shear ? rigidity / (kappa * v[S_SHEAR] * v[S_AREA] * l2) : 0;
            member k = bending(o2 * mass * l2 * l2 / rigidity, r2, s2, 0);
            count += k.count;
            real across = rigidity / (l2 * length), mixed = sign * rigidity / l2, about = rigidity / length;
            a[y0][y0] = a[y1][y1] = k.a * across;
            a[p0][p0] = a[p1][p1] = k.d * about;
            a[y0][p0] = a[p0][y0] = k.c * mixed;
            a[y1][p1] = a[p1][y1] = -k.c * mixed;
            a[y0][y1] = a[y1][y0] = k.e * across;
            a[y0][p1] = a[p1][y0] = k.f * mixed;
            a[p0][y1] = a[y1][p0] = -k.f * mixed;
            a[p0][p1] = a[p1][p0] = k.g * about;
        }
        for (int r = 0; r < 6; r++)
            for (int q = 0; q < 6; q++) a[at[r]][at[q]] += w[r][q];
        int negative = eliminated(a, size, size - 6);
        if (negative < 0) return -1;
        count += negative;
        /* the axis, in the axes of the link and of the one before alike */
        real axis[3] = {v[S_AXIS_X], v[S_AXIS_Y], v[S_AXIS_Z]};
        real size_of_axis = sqrtq(axis[0] * axis[0] + axis[1] * axis[1] + axis[2] * axis[2]);
        for (int k = 0; k < 3; k++) axis[k] /= size_of_axis;
        if (isfinite(v[S_SPRING])) {
            real stiff = v[S_SPRING], force[6], own = 0;
            for (int r = 0; r < 6; r++) {
                force[r] = 0;
                for (int q = 0; q < 3; q++) force[r] += a[r][3 + q] * axis[q];
            }
            for (int q = 0; q < 3; q++) own += axis[q] * force[3 + q];
            count += own + stiff < 0;
            for (int r = 0; r < 6; r++)
                for (int q = 0; q < 6; q++) a[r][q] -= force[r] * force[q] / (own + stiff);
        }
        real sine, cosine, turned[3][3];
        sincosq(v[S_ANGLE], &sine, &cosine);
        for (int r = 0; r < 3; r++)
            for (int q = 0; q < 3; q++) turned[r][q] = (1 - cosine) * axis[r] * axis[q] + (r == q ? cosine : 0);
        for (int k = 0; k < 3; k++) {
            turned[(k + 2) % 3][(k + 1) % 3] += sine * axis[k];
            turned[(k + 1) % 3][(k + 2) % 3] -= sine * axis[k];
        }
        for (int x = 0; x < 6; x += 3)
            for (int y = 0; y < 6; y += 3)
                for (int r = 0; r < 3; r++)
                    for (int q = 0; q < 3; q++) {
                        real sum = 0;
                        for (int j = 0; j < 3; j++)
                            for (int k = 0; k < 3; k++) sum += turned[r][j] * a[x + j][y + k] * turned[q][k];
                        w[x + r][y + q] = sum;
                    }
    }
    return count;
}

typedef long counter(int, const double *, int, int, int, real);

/* Counts at `points` frequencies (each hi + lo) of every one of `cells` arms; flags: shear, rotary inertia, axial
   motion, in space. */
void counts(long cells, int n, const double *values, const int *flags, int points, const double *hi, const double *lo,
            long *found)
{
    counter *j = flags[3] ? below_in_space : below;
    int fields = flags[3] ? FIELDS_IN_SPACE : FIELDS;
    for (long i = 0; i < cells; i++)
        for (int k = 0; k < points; k++) {
            long at = i * points + k;
            real omega = (real)hi[at] + lo[at];
            found[at] = omega > 0 ? j(n, values + i * n * fields, flags[0], flags[1], flags[2], omega) : -3;
        }
}

/* Relative error of omegas that are claimed to be modes of these numbers, from 1, by bisection on the count; NaN where
   the mode is not within 2 % of it. */
void errors(long cells, int n, const double *values, const int *flags, int modes, const double *omega,
            const long *number, double *found)
{
    counter *j = flags[3] ? below_in_space : below;
    int fields = flags[3] ? FIELDS_IN_SPACE : FIELDS;
    for (long i = 0; i < cells; i++)
        for (int k = 0; k < modes; k++) {
            long at = i * modes + k;
            const double *v = values + i * n * fields;
            found[at] = NAN;
            if (!(omega[at] > 0)) continue;
            real one = omega[at], low = 0, high = 0, reach;
            for (reach = 4e-16Q; reach < 0.02Q; reach *= 8) {
                if (!low && j(n, v, flags[0], flags[1], flags[2], one * (1 - reach)) < number[at]) low = -reach;
                if (!high && j(n, v, flags[0], flags[1], flags[2], one * (1 + reach)) >= number[at]) high = reach;
                if (low && high) break;
            }
            if (!low || !high) continue;
            while (high - low > 2e-17Q + 1e-3Q * fabsq(low + high)) {
                real middle = (low + high) / 2;
                if (j(n, v, flags[0], flags[1], flags[2], one * (1 + middle)) >= number[at]) high = middle;
                else low = middle;
            }
            found[at] = (double)(-(low + high) / 2);
        }
}
