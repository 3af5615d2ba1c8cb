import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { QpState } from '../../src/spec/index.js';
import { Opcode } from '../../src/wire/index.js';
import { Crowd, port, RATE, sum } from './crowd.js';
import { Pair } from './pair.js';
import { UNSIGNALLED } from './qp.js';

describe('a sender whose last packet was lost', () => {
  it('asks long before its retry timer runs out, and loses no retry', () => {
    const pair = new Pair();
    const { a } = pair.connect();
    const source = pair.a.mr(10_000);
    const target = pair.b.mr(10_000);
    a.write(source, target);
    pair.drive({ until: () => a.sent().length > 0 });
    let lost = false;
    pair.script = ({ opcode }) => {
      if (opcode !== Opcode.RC_WRITE_LAST || lost) return 'pass';
      lost = true;
      return 'drop';
    };
    a.write(source, target);
    const begun = pair.nowUs;
    pair.drive({ until: () => a.sent().length > 0 });
    assert.ok(pair.nowUs - begun < 12_000, `${pair.nowUs - begun} us`);
    assert.equal(pair.a.nic.counters.lossProbes, 1);
    assert.equal(pair.a.nic.counters.completerRetryErr, 0);
  });
});

describe('a sender whose peer has gone', () => {
  it('asks in vain, and ends no later than its retries do', () => {
    const pair = new Pair();
    const { a } = pair.connect({ both: { timeout: 14, retryCnt: 7 } });
    const [source, target] = [pair.a.mr(100), pair.b.mr(100)];
    a.write(source, target);
    pair.drive({ until: () => a.sent().length > 0 });
    pair.script = () => 'drop';
    a.write(source, target);
    const begun = pair.nowUs;
    pair.drive({ until: () => a.sent().length > 0 });
    const retriesUs = 8 * 4.096 * 2 ** 14;
    const tookUs = pair.nowUs - begun;
    assert.ok(tookUs > 0.99 * retriesUs && tookUs < 1.01 * retriesUs, `${tookUs} us`);
  });
});

describe('a sender that drains, whose peer has gone', () => {
  it('has all of its retries', () => {
    const pair = new Pair();
    const { a } = pair.connect({ both: { timeout: 14, retryCnt: 7 } });
    const [source, target] = [pair.a.mr(100), pair.b.mr(100)];
    pair.script = () => 'drop';
    for (let i = 0; i < 3; i += 1) a.write(source, target, { flags: UNSIGNALLED });
    pair.turn();
    const begun = pair.nowUs;
    a.modify({ qpState: QpState.SQD });
    pair.drive({ until: () => a.state === QpState.ERR });
    const tookUs = pair.nowUs - begun;
    assert.ok(tookUs > 0.99 * 8 * 4.096 * 2 ** 14, `${tookUs} us`);
  });
});

describe('many senders', () => {
  it('keep half of the bandwidth where 5 % of the packets are lost', () => {
    const crowd = new Crowd(16, { port }, { loss: 0.05 });
    crowd.flow(80_000);
    const part = sum(crowd.flow(60_000)) / (RATE * 60_000);
    assert.ok(part > 0.5, String(part));
  });
});
