import assert from 'node:assert/strict';
import { afterEach, test } from 'node:test';
import { openDevice } from '../../src/index.js';
import { loopback } from '../support/loopback.js';

const NAMES = ['VERBENA_ADDR', 'VERBENA_PCAP', 'VERBENA_HOST'] as const;
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
