import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { Resource } from '../index.js';

class Probe extends Resource {
  busy: string | undefined;
  failing: Error | undefined;

  constructor(
    protected override readonly label: string,
    uses: readonly Resource[] = [],
    readonly log: string[] = [],
  ) {
    super('ibv_end_probe', uses);
    this.abandoned = () => void this.log.push(`abandon ${this.label}`);
  }

  protected override release(): void {
    if (this.failing !== undefined) throw this.failing;
    this.log.push(`release ${this.label}`);
  }

  protected override busyReason(): string | undefined {
    return this.busy;
  }

  use(): void {
    this.assertAlive('ibv_use_probe');
  }

  destroy(): void {
    this.end();
  }

  close(): void {
    this.endWithUsers();
  }
}

describe('a resource', () => {
  it('is released once when it ends', () => {
    const pd = new Probe('PD 1');
    pd.destroy();
    assert.deepEqual(pd.log, ['release PD 1']);
    assert.equal(pd.destroyed, true);
  });

  it('cannot be ended twice', () => {
    const pd = new Probe('PD 1');
    pd.destroy();
    assert.throws(() => pd.destroy(), { code: 'EINVAL', call: 'ibv_end_probe', message: /PD 1 was ended before/ });
  });

  it('cannot be used after its end', () => {
    const pd = new Probe('PD 1');
    pd.destroy();
    assert.throws(() => pd.use(), { code: 'EINVAL', call: 'ibv_use_probe' });
  });

  it('cannot be ended while something uses it, and says what', () => {
    const pd = new Probe('PD 1');
    new Probe('QP 0x12', [pd]);
    assert.throws(() => pd.destroy(), { code: 'EBUSY', message: /PD 1 is in use by QP 0x12 \(EBUSY\)/ });
    assert.equal(pd.destroyed, false);
    pd.use();
  });

  it('names some of many users and counts the rest', () => {
    const pd = new Probe('PD 1');
    for (const n of [1, 2, 3, 4, 5]) new Probe(`MR ${n}`, [pd]);
    assert.throws(() => pd.destroy(), /in use by MR 1, MR 2, MR 3 and 2 more/);
  });

  it('can be ended once its last user has ended', () => {
    const pd = new Probe('PD 1');
    const mr = new Probe('MR 1', [pd]);
    mr.destroy();
    pd.destroy();
    assert.equal(pd.destroyed, true);
  });

  it('is used once by whoever uses it twice', () => {
    const cq = new Probe('CQ 1');
    const qp = new Probe('QP 0x12', [cq, cq]);
    assert.throws(() => cq.destroy(), /in use by QP 0x12 \(/);
    qp.destroy();
    cq.destroy();
    assert.equal(cq.destroyed, true);
  });

  it('cannot be ended while it is busy with something of its own', () => {
    const cq = new Probe('CQ 1');
    cq.busy = 'has 2 events that are not acknowledged';
    assert.throws(() => cq.destroy(), { code: 'EBUSY', message: /CQ 1 has 2 events/ });
  });

  it('goes on existing, and being used, when the device does not release it', () => {
    const pd = new Probe('PD 1');
    const mr = new Probe('MR 1', [pd]);
    mr.failing = new Error('no');
    assert.throws(() => mr.destroy(), /no/);
    assert.equal(mr.destroyed, false);
    assert.throws(() => pd.destroy(), { code: 'EBUSY' });
  });
});

describe('disposing of a resource', () => {
  it('ends it', () => {
    const pd = new Probe('PD 1');
    pd[Symbol.dispose]();
    assert.equal(pd.destroyed, true);
  });

  it('does nothing after its end', () => {
    const pd = new Probe('PD 1');
    pd.destroy();
    pd[Symbol.dispose]();
    assert.deepEqual(pd.log, ['release PD 1']);
  });

  it('ends things in the right order with `using`', () => {
    const log: string[] = [];
    {
      using pd = new Probe('PD 1', [], log);
      using cq = new Probe('CQ 1', [], log);
      using qp = new Probe('QP 0x12', [pd, cq], log);
      qp.use();
    }
    assert.deepEqual(log, ['release QP 0x12', 'release CQ 1', 'release PD 1']);
  });
});

describe('ending a resource with its users', () => {
  function family() {
    const log: string[] = [];
    const context = new Probe('context', [], log);
    const pd = new Probe('PD 1', [context], log);
    const cq = new Probe('CQ 1', [context], log);
    const qp = new Probe('QP 0x12', [pd, cq], log);
    return { log, context, pd, cq, qp };
  }

  it('releases it alone and abandons the others, users first', () => {
    const { log, context } = family();
    context.close();
    assert.deepEqual(log, ['release context', 'abandon QP 0x12', 'abandon CQ 1', 'abandon PD 1']);
  });

  it('leaves nothing that can be used', () => {
    const { context, pd, cq, qp } = family();
    context.close();
    for (const probe of [context, pd, cq, qp]) assert.throws(() => probe.use(), { code: 'EINVAL' });
  });

  it('lets `using` of the others pass', () => {
    const { context, qp, pd, log } = family();
    context.close();
    const before = log.length;
    qp[Symbol.dispose]();
    pd[Symbol.dispose]();
    assert.equal(log.length, before);
  });
});
