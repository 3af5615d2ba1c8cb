import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { Mtu, QpState, QpType } from '../../ibta/index.js';
import { Opcode } from '../../wire/index.js';
import { Crowd, port } from './crowd.js';
import { dropping, Pair, Puppet } from './pair.js';
import type { TestQp } from './qp.js';

const countersOf = ({ host, qpn }: TestQp): Record<string, number> => host.nic.control.qpCounters(qpn);

describe('the counters of a queue pair', () => {
  it('begin with a small window, and nothing that was measured', () => {
    const { a } = new Pair().connect({ both: { pathMtu: Mtu.MTU_4096 } });
    assert.deepEqual(countersOf(a), {
      cwnd: 16 * 1024,
      cwnd_max: 256 * 1024,
      cwnd_cuts: 0,
      cwnd_quiet_rounds: 0,
      rtt_us: 0,
      rtt_var_us: 0,
      rp_cnp_handled: 0,
      loss_probes: 0,
      retransmitted_pkts: 0,
      completer_retry_err: 0,
      rx_write_requests: 0,
    });
  });

  it('tell the round trip of a way of twice 5 us', () => {
    const pair = new Pair();
    const { a } = pair.connect();
    a.write(pair.a.mr(10), pair.b.mr(10));
    pair.drive();
    const { rtt_us: us } = countersOf(a);
    assert.ok(us >= 10 && us < 12, `${us} us`);
  });

  it('take no wait for a receive request for a round trip', () => {
    const pair = new Pair();
    const { a, b } = pair.connect();
    a.send(pair.a.mr(10));
    pair.run(30);
    b.postRecv({ sgList: [pair.b.mr(10).sge()] });
    pair.drive({ until: () => a.sent().length > 0 });
    assert.ok(pair.nowUs > 100, `${pair.nowUs} us`);
    assert.equal(countersOf(a)['rtt_us'], 0);
  });

  it('count the notifications that cut its window', () => {
    const puppet = new Puppet();
    puppet.say({ opcode: Opcode.CNP, psn: 0, payload: new Uint8Array(16), becn: true });
    const { rp_cnp_handled: notified, cwnd_cuts: cuts } = countersOf(puppet.qp);
    assert.deepEqual([notified, cuts], [1, 1]);
  });

  it('take marked answers for congestion, and not for notifications', () => {
    const crowd = new Crowd(1, { port: { ...port, markAboveBytes: 0 } }, {}, 'read');
    crowd.flow(2000);
    const { rp_cnp_handled: notified, cwnd_cuts: cuts } = countersOf(crowd.flows[0].qp);
    assert.equal(notified, 0);
    assert.ok(cuts > 0);
  });

  it('count what was sent again, and why', () => {
    const pair = new Pair();
    const { a } = pair.connect({ both: { pathMtu: Mtu.MTU_1024 } });
    const [source, target] = [pair.a.mr(3000), pair.b.mr(3000)];
    a.write(source, target);
    pair.drive();
    pair.script = dropping(({ opcode }) => opcode === Opcode.RC_WRITE_FIRST || opcode === Opcode.RC_WRITE_LAST, 1, 4);
    a.write(source, target);
    a.write(source, target);
    pair.drive();
    const { retransmitted_pkts: packets, completer_retry_err: retries, loss_probes: probes } = countersOf(a);
    const { retransmittedPkts, completerRetryErr, lossProbes } = pair.a.nic.counters;
    assert.deepEqual([packets, retries, probes], [retransmittedPkts, completerRetryErr, lossProbes]);
    assert.ok(packets > 0 && retries > 0);
  });

  it('begin anew with each way to RTS', () => {
    const puppet = new Puppet();
    puppet.say({ opcode: Opcode.CNP, psn: 0, payload: new Uint8Array(16), becn: true });
    puppet.qp.modify({ qpState: QpState.RESET });
    puppet.qp.toRts({ gid: puppet.host1.gid, qpn: 17 });
    assert.equal(countersOf(puppet.qp)['rp_cnp_handled'], 0);
  });

  it('are none where nobody acknowledges what is sent', () => {
    const pair = new Pair();
    for (const type of [QpType.UC, QpType.UD]) assert.deepEqual(countersOf(pair.a.qp({ type })), {});
  });
});
