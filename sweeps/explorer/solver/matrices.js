// Small matrices in float64, row by row.

/** The product of matrices (n, m) and (m, p). */
function times(a, b, n, m, p) {
  const c = new Float64Array(n * p);
  for (let i = 0; i < n; i++) for (let k = 0; k < m; k++) {
    const x = a[i * m + k];
    if (x !== 0) for (let j = 0; j < p; j++) c[i * p + j] += x * b[k * p + j];
  }
  return c;
}

/** The matrix (6, 6) of products of the entries of a vector. */
const outer = (v) => Float64Array.from({ length: 36 }, (_, k) => v[Math.floor(k / 6)] * v[k % 6]);

function transposed(a, n, m) {
  const b = new Float64Array(n * m);
  for (let i = 0; i < n; i++) for (let j = 0; j < m; j++) b[j * n + i] = a[i * m + j];
  return b;
}

function symmetric(a, n) {
  for (let i = 0; i < n; i++) for (let j = 0; j < i; j++) a[i * n + j] = a[j * n + i] = 0.5 * (a[i * n + j] + a[j * n + i]);
  return a;
}

/** Eigenvalues of a symmetric matrix, which is spent, and its vectors as columns; by rotations of Jacobi. */
function eigen(a, n) {
  const v = new Float64Array(n * n);
  for (let i = 0; i < n; i++) v[i * n + i] = 1;
  for (let sweep = 0; sweep < 40; sweep++) {
    let moved = false;
    for (let p = 0; p < n; p++) for (let q = p + 1; q < n; q++) {
      const x = a[p * n + q], y = a[p * n + p], z = a[q * n + q];
      if (!(x * x > 1e-36 * Math.abs(y * z) && Math.abs(x) > 1e-300)) continue;
      moved = true;
      const theta = (z - y) / (2 * x), t = Math.sign(theta || 1) / (Math.abs(theta) + Math.hypot(theta, 1)), c = 1 / Math.hypot(t, 1), s = t * c;
      for (let k = 0; k < n; k++) {
        const g = a[k * n + p], h = a[k * n + q];
        a[k * n + p] = c * g - s * h; a[k * n + q] = s * g + c * h;
      }
      for (let k = 0; k < n; k++) {
        const g = a[p * n + k], h = a[q * n + k];
        a[p * n + k] = c * g - s * h; a[q * n + k] = s * g + c * h;
      }
      a[p * n + q] = a[q * n + p] = 0;
      for (let k = 0; k < n; k++) {
        const g = v[k * n + p], h = v[k * n + q];
        v[k * n + p] = c * g - s * h; v[k * n + q] = s * g + c * h;
      }
    }
    if (!moved) break;
  }
  return { values: Float64Array.from({ length: n }, (_, i) => a[i * n + i]), vectors: v };
}

/** Turn columns, in their place, into orthogonal ones by rotations of Jacobi; the columns of these rotations. */
function orthogonal(columns) {
  const n = columns.length, v = columns.map((_, i) => Float64Array.from({ length: n }, (_, j) => Number(i === j)));
  const dot = (a, b) => a.reduce((sum, x, i) => sum + x * b[i], 0);
  for (let sweep = 0, moved = true; moved && sweep < 40; sweep++) {
    moved = false;
    for (let p = 0; p < n; p++) for (let q = p + 1; q < n; q++) {
      const x = dot(columns[p], columns[q]), y = dot(columns[p], columns[p]), z = dot(columns[q], columns[q]);
      if (!(Math.abs(x) > 1e-16 * Math.sqrt(y * z) && Math.abs(x) > 1e-300)) continue;
      moved = true;
      const theta = (z - y) / (2 * x), t = Math.sign(theta || 1) / (Math.abs(theta) + Math.hypot(theta, 1)), c = 1 / Math.hypot(t, 1), s = t * c;
      for (const own of [columns, v]) [own[p], own[q]] = [own[p].map((g, i) => c * g - s * own[q][i]), own[q].map((h, i) => s * own[p][i] + c * h)];
    }
  }
  return v;
}

/** The inverse of a matrix, which is spent. */
function inverse(a, n) {
  const b = new Float64Array(n * n);
  for (let i = 0; i < n; i++) b[i * n + i] = 1;
  for (let k = 0; k < n; k++) {
    let pivot = k;
    for (let i = k + 1; i < n; i++) if (Math.abs(a[i * n + k]) > Math.abs(a[pivot * n + k])) pivot = i;
    for (let j = 0; pivot !== k && j < n; j++) {
      [a[k * n + j], a[pivot * n + j]] = [a[pivot * n + j], a[k * n + j]];
      [b[k * n + j], b[pivot * n + j]] = [b[pivot * n + j], b[k * n + j]];
    }
    const d = 1 / a[k * n + k];
    for (let j = 0; j < n; j++) { a[k * n + j] *= d; b[k * n + j] *= d; }
    for (let i = 0; i < n; i++) {
      const x = a[i * n + k];
      if (i === k || x === 0) continue;
      for (let j = 0; j < n; j++) { a[i * n + j] -= x * a[k * n + j]; b[i * n + j] -= x * b[k * n + j]; }
    }
  }
  return b;
}

/** The triangular root of Cholesky of a matrix (6, 6); directions of none, or of rounding alone, have zero columns. */
function rootOf(matrix) {
  const root = new Float64Array(36);
  for (let j = 0; j < 6; j++) {
    let own = matrix[7 * j];
    for (let k = 0; k < j; k++) own -= root[6 * j + k] ** 2;
    if (!(own > 1e-14 * matrix[7 * j])) continue;
    root[7 * j] = Math.sqrt(own);
    for (let i = j + 1; i < 6; i++) {
      let x = matrix[6 * i + j];
      for (let k = 0; k < j; k++) x -= root[6 * i + k] * root[6 * j + k];
      root[6 * i + j] = x / root[7 * j];
    }
  }
  return root;
}
