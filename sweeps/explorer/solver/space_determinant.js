// An arm in space at one frequency: determinant and count.

const ENTRIES = 21; // of a stiffness

let wideH = new Float64Array(ENTRIES), wideL = new Float64Array(ENTRIES);
const planesH = new Float64Array(64), planesL = new Float64Array(64), results = new Float64Array(640), rests = new Float64Array(640);
const sized = new Float64Array(128), told = new Float64Array(4), ofPlane = { mass: 0, growth: 0, passed: 0, beta: new Float64Array(2) };
const sq = new Float64Array(2);

/** Both planes of a member, field by field beside each other, into planesH, planesL; what counts into `ofPlane`. */
function membersAt(arm, member, omega, kind) {
  const { tapes, written } = arm, pairs = kind === "double", fields = tapes.member[kind].outputs.length - 7;
  ofPlane.growth = 0; ofPlane.passed = 0;
  for (let p = 0; p < 2; p++) {
    functionsOf(arm, member.planes[p], omega, kind);
    const axial = p === 0 ? written.axial : 1;
    xh[0] = written.loaded ? wh[LEVER_AT] : member.length; xh[1] = axial;
    xh.set(wh.subarray(0, WAVES), 2); xh.set(gh, 2 + WAVES);
    if (pairs) {
      xl[0] = written.loaded ? wl[LEVER_AT] : 0; xl[1] = 0;
      xl.set(wl.subarray(0, WAVES), 2); xl.set(gl, 2 + WAVES);
      tapes.member.double.runPairs(xh, xl, fh, fl);
    } else tapes.member.float64.run(xh, fh);
    for (let k = 0; k < fields; k++) { planesH[2 * k + p] = fh[k]; planesL[2 * k + p] = fl[k]; }
    for (let k = 0; k < 7; k++) xh[k] = fh[fields + k];
    for (let k = 0; k < 3; k++) xh[7 + k] = turns[12 + k];
    xh[10] = axial;
    tapes.passed.run(xh, told);
    ofPlane.passed += told[0];
    if (wh[Z1] > 0) ofPlane.growth += wh[ALPHA];
    ofPlane.beta[p] = wh[BETA];
    if (p === 0) ofPlane.mass = wh[WAVES - 1];
  }
  return 2 * fields;
}

/** The square of a frequency into sq, and no stiffness yet, beyond the tip, in wideH, wideL. */
function startBeyond({ carrying: { entries } }, omega) {
  multiplyPairs(omega, 0, omega, 0);
  sq[0] = H; sq[1] = L;
  if (wideH.length !== entries) { wideH = new Float64Array(entries); wideL = new Float64Array(entries); }
  wideH.fill(0); wideL.fill(0);
}

/** Where the stiffness stands among the inputs of a link; before it the numbers of loads, which act at its outer end. */
const stiffnessAt = (arm, link) => 1 + link.hi.length + OF_LOAD * arm.loads.length;

/** Frequency squared, numbers of the link and the stiffness in wideH, wideL as inputs; where they end. */
function inputsOf(arm, link, pairs) {
  const n = 1 + link.hi.length, at = stiffnessAt(arm, link);
  xh[0] = sq[0]; xh.set(link.hi, 1); xh.fill(0, n, at); xh.set(wideH, at);
  if (pairs) { xl[0] = sq[1]; xl.set(link.lo, 1); xl.fill(0, n, at); xl.set(wideL, at); }
  return at + wideH.length;
}

/** Sign and logarithm of the determinant, count of modes below, what is rounded. */
function evaluate(arm, omega, kind, springs = []) {
  const at = Math.max(omega, RESOLVED[kind] * arm.scale), pairs = kind === "double";
  startBeyond(arm, at);
  // what rounding does to float64 in space is not known from one evaluation: it serves to search, not to certify
  let sign = 1, log = 0, count = 0, noise = 0;
  const factor = (x) => { sign *= Math.sign(x); log += Math.log(Math.abs(x)); };
  for (let i = arm.links.length - 1; i >= 0; i--) {
    const link = arm.links[i], { layout } = link, tape = layout.formulas[arm.carries].link[kind];
    let size = 0;
    addLoads(arm, i, wideH, wideL);
    addSprings(arm.supports, i, wideH, wideL);
    addSprings(springs, i, wideH, wideL);
    if (link.member) {
      size = membersAt(arm, link.member.whole, at, kind);
      count += ofPlane.passed;
      log += ofPlane.growth;
      factor(planesH[size - 2]); factor(planesH[size - 1]);
    }
    const end = inputsOf(arm, link, pairs);
    for (let k = 0; k < size; k++) { xh[end + k] = planesH[k]; if (pairs) xl[end + k] = planesL[k]; }
    if (pairs) tape.runPairs(xh, xl, results, rests); else tape.run(xh, results);
    const found = results.subarray(wideH.length, tape.outputs.length);
    layout.count.run(found, told);
    count += told[0];
    for (let k = 0; k < layout.springs; k++) factor(found[6 + k]);
    if (link.member) {
      for (let k = 0; k < 3; k++) factor(found[6 + layout.springs + k]);
      if (pairs) {
        sized.set(found);
        let to = found.length;
        sized[to++] = sq[0]; sized[to++] = ofPlane.mass; sized[to++] = link.member.whole.length; sized[to++] = link.hi[BODY_MASS];
        for (const place of BODY_INERTIA) sized[to++] = link.hi[place];
        for (const field of [size / 2 - 1, MEMBER_FIELDS.indexOf("r_vv"), MEMBER_FIELDS.indexOf("r_pp")])
          for (let p = 0; p < 2; p++) sized[to++] = planesH[2 * field + p];
        for (let p = 0; p < 2; p++) sized[to++] = ofPlane.beta[p];
        sized.set(wideH.subarray(0, ENTRIES), to);
        layout.noise.run(sized, told);
        noise += told[0] + (link.base ? 0 : told[1]);
      }
    }
    for (let k = 0; k < wideH.length; k++) { wideH[k] = results[k]; wideL[k] = rests[k]; }
  }
  if (arm.loads.length) {
    for (const pivot of pivotsOf(arm, kind).subarray(0, arm.loads.length)) {
      factor(pivot);
      count -= Number(pivot < 0);
    }
  }
  return { omega: at, sign, log, count, noise: pairs ? ROUNDING * noise : Infinity };
}
