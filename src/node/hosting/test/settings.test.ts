import assert from 'node:assert/strict';
import { afterEach, test } from 'node:test';
import { ackTimeoutUs, openDevice, WcStatus, WrOpcode } from '../../../entry/index.js';
import { connectTo, infoOf } from '../../../providers/soft/test/support/ends.js';
import { drainOne, makeSide } from '../../../providers/soft/test/support/pair.js';
import { loopback } from '../../../../test/support/loopback.js';

const NAMES = ['VERBENA_ADDR', 'VERBENA_PCAP', 'VERBENA_HOST', 'VERBENA_MIN_ACK_TIMEOUT', 'VERBENA_SPIN'] as const;
const inherited = NAMES.map((name) => process.env[name]);

afterEach(() => {
  for (const [i, name] of NAMES.entries()) {
    const value = inherited[i];
    if (value === undefined) Reflect.deleteProperty(process.env, name);
    else process.env[name] = value;
  }
});

for (const host of ['inline', 'thread'] as const) {
  test(`an address that comes from the environment is named so when it cannot be had, hosted ${host}`, () => {
    for (const [address, errno] of [
      ['nonsense', 'EINVAL'],
      ['203.0.113.1', 'EADDRNOTAVAIL'],
    ]) {
      process.env['VERBENA_ADDR'] = address;
      assert.throws(() => openDevice({ host }), { errno, advice: `VERBENA_ADDR is '${address}'` });
      // Not so when the program names it itself.
      assert.throws(() => openDevice({ host, address }), { errno, advice: '' });
    }
  });
}

test('a capture file that comes from the environment is named so when it cannot be had', () => {
  process.env['VERBENA_PCAP'] = '/nowhere/at/all.pcapng';
  const address = loopback(1);
  assert.throws(() => openDevice({ host: 'inline', address }), { errno: 'ENOENT', message: /VERBENA_PCAP is '/ });
});

test('a way of hosting that there is not is refused by the name of the setting', () => {
  process.env['VERBENA_HOST'] = 'cloud';
  assert.throws(() => openDevice(), { errno: 'EINVAL', message: /'cloud'.*VERBENA_HOST/ });
});

for (const host of ['inline', 'thread'] as const)
  test(`a time to look before sleeping that is none is refused by the name of the setting, hosted ${host}`, () => {
    const address = loopback(1);
    for (const asked of ['-1', 'NaN', 'a while', '1e9']) {
      process.env['VERBENA_SPIN'] = asked;
      assert.throws(() => openDevice({ host, address }), { errno: 'EINVAL', message: /VERBENA_SPIN/ });
    }
    process.env['VERBENA_SPIN'] = '0';
    openDevice({ host, address }).close();
  });

test('a shortest ACK timeout that is not an exponent is refused by the name of the setting', () => {
  for (const asked of ['32', '-1', '1.5', 'a second']) {
    process.env['VERBENA_MIN_ACK_TIMEOUT'] = asked;
    assert.throws(() => openDevice(), { errno: 'EINVAL', message: /VERBENA_MIN_ACK_TIMEOUT/ });
  }
});

test('a shortest ACK timeout lets a peer be silent for longer than the queue pair asked for', () => {
  using context = openDevice({ host: 'inline', address: loopback(1), minAckTimeout: 12 });
  const side = makeSide(context);
  connectTo(side, { ...infoOf(side), qpNum: 0x7fffff }, { timeout: 1, retryCnt: 1 });
  const begun = performance.now();
  side.qp.postSend({ opcode: WrOpcode.SEND, sgList: [side.mr.sge(0, 8)] });
  assert.equal(drainOne(side.cq).status, WcStatus.RETRY_EXC_ERR);
  assert.ok((performance.now() - begun) * 1000 >= 2 * ackTimeoutUs(12));
});
