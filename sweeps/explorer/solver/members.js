// Members: their wave numbers and functions at one frequency, and where results are left.

const WAVES = 13, FUNCTIONS = 8;
const Z1 = 4, ALPHA = 5, BETA = 6, MU = 9, RIGIDITY = 10, MASS = 12; // places among the wave numbers
const LEVER_AT = WAVES; // behind them, of a member under an axial force

const numbers = (values) => Float64Array.from(values, Number);

const xh = new Float64Array(1024), xl = new Float64Array(1024), fh = new Float64Array(128), fl = new Float64Array(128);
const wh = new Float64Array(16), wl = new Float64Array(16), gh = new Float64Array(FUNCTIONS), gl = new Float64Array(FUNCTIONS);
const turns = new Float64Array(16);

/** Wave numbers and functions of a link into wh, wl, gh, gl; whole turns into `turns` at 12. */
function functionsOf(arm, link, omega, kind) {
  const own = link[kind];
  xh[0] = omega; xl[0] = 0;
  xh.set(own.memberHi, 1); xl.set(own.memberLo, 1);
  if (kind === "float64") {
    arm.tapes.waves.float64.run(xh, wh);
    if (link.stub) wh[RIGIDITY] = wh[MASS] = 0;
    gh[0] = Math.exp(-wh[ALPHA]); gh[1] = sinhRatio(wh[Z1]);
    for (let k = 0; k < 3; k++) {
      circular(0.5 * wh[k === 0 ? ALPHA : k === 1 ? BETA : MU], turns, 0);
      gh[2 + 2 * k] = turns[0]; gh[3 + 2 * k] = turns[1]; turns[12 + k] = turns[2];
    }
    return;
  }
  arm.tapes.waves.double.runPairs(xh, xl, wh, wl);
  if (link.stub) wh[RIGIDITY] = wl[RIGIDITY] = wh[MASS] = wl[MASS] = 0;
  decayOfPair(wh[ALPHA], wl[ALPHA]);
  gh[0] = H; gl[0] = L;
  if (wh[Z1] >= 0 && wh[Z1] <= 0.25) seriesOfPair(SERIES.sinh_ratio, wh[Z1], wl[Z1]); else { H = 1; L = 0; }
  gh[1] = H; gl[1] = L;
  for (let k = 0; k < 3; k++) {
    const at = k === 0 ? ALPHA : k === 1 ? BETA : MU;
    circularOfPair(0.5 * wh[at], 0.5 * wl[at], turns, 0);
    gh[2 + 2 * k] = turns[0]; gl[2 + 2 * k] = turns[1]; gh[3 + 2 * k] = turns[2]; gl[3 + 2 * k] = turns[3];
    turns[12 + k] = turns[4];
  }
}

/** The parts of a length between these shares of it, which ascend. */
function partsOf(length, shares) {
  if (shares.length === 1) return cutLengths(length, shares[0]);
  const ends = [0, ...shares, 1];
  return ends.slice(1).map((end, k) => (end - ends[k]) * length);
}

/** The parts of a length, the inner one about this share of it: they add up to it to the last bit. */
function cutLengths(length, share) {
  const longer = Math.max(share, 1 - share) * length, shorter = length - longer;
  return share > 0.5 ? [longer, shorter] : [shorter, longer];
}
