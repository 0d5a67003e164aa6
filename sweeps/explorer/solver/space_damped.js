// The determinant of an arm in space at a complex frequency, but for what springs at its ports do not change.

const planesQ = quads(64), resultsQ = quads(640);

function evaluateDamped(arm, losses, springs) {
  const { omega } = losses, { tapes, written } = arm, product = new Product(), { entries } = arm.carrying, wide = quads(entries);
  multiplyQuads(...omega, ...omega);
  const squared = [...Q];
  for (let i = arm.links.length - 1; i >= 0; i--) {
    const link = arm.links[i], { layout } = link, n = stiffnessAt(arm, link);
    addLoads(arm, i, wide[0], wide[1]);
    addSprings(arm.supports, i, wide[0], wide[1]);
    addSprings(springs, i, wide[0], wide[1]);
    let size = 0;
    if (link.member) {
      const fields = tapes.member.double.outputs.length - 7, { length, planes } = link.member.whole;
      for (let p = 0; p < 2; p++) {
        const { tape, inputs, moduli } = planes[p];
        functionsOfDamped(arm, constantsOf(arm, link, tape, inputs, moduli, losses), omega);
        for (let q = 0; q < 4; q++) { xq[q][0] = xq[q][1] = 0; xq[q].set(wq[q].subarray(0, WAVES), 2); xq[q].set(gq[q], 2 + WAVES); }
        if (written.loaded) for (let q = 0; q < 4; q++) xq[q][0] = wq[q][LEVER_AT]; else xh[0] = length;
        xh[1] = p === 0 ? written.axial : 1;
        runQuads(tapes.member.double, xq, fq);
        for (let q = 0; q < 4; q++) for (let k = 0; k < fields; k++) planesQ[q][2 * k + p] = fq[q][k];
      }
      size = 2 * fields;
    }
    const end = n + entries;
    for (let q = 0; q < 4; q++) {
      xq[q].fill(0, 0, n);
      xq[q][0] = squared[q]; xq[q].set(wide[q], n); xq[q].set(planesQ[q].subarray(0, size), end);
    }
    xh.set(link.hi, 1); xl.set(link.lo, 1);
    const larger = setLaws(arm, link, losses, motorOf(springs, i));
    if (larger) product.times(...larger);
    runQuads(layout.formulas[arm.carries].link.double, xq, resultsQ);
    const factors = layout.springs + (link.member ? 3 : 0);
    for (let k = entries + 6; k < entries + 6 + factors; k++) product.times(resultsQ[0][k], resultsQ[2][k]);
    for (let q = 0; q < 4; q++) wide[q].set(resultsQ[q].subarray(0, entries));
  }
  if (arm.loads.length) {
    for (let q = 0; q < 4; q++) { xq[q].fill(0); xq[q].set(wide[q]); }
    arm.loads.forEach(({ law: [unit, root, rest] }, k) => {
      xq[0][entries + 2 * k] = unit;
      xq[0][entries + 2 * k + 1] = root; xq[1][entries + 2 * k + 1] = rest;
    });
    runQuads(arm.carrying.pivots.double, xq, resultsQ);
    for (let k = 0; k < arm.loads.length; k++) product.times(resultsQ[0][k], resultsQ[2][k]);
  }
  return product;
}
