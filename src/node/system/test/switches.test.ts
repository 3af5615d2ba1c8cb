import assert from 'node:assert/strict';
import { afterEach, test } from 'node:test';
import { openDevice, VerbsError } from '../../../entry/index.js';
import { isOff, SWITCHES, switchProblem } from '../switches.js';
import { loopback } from '../../../../test/support/loopback.js';

afterEach(() => {
  for (const name of SWITCHES) Reflect.deleteProperty(process.env, name);
});

for (const name of SWITCHES) {
  for (const word of ['off', 'no', 'false', '0', 'OFF'])
    test(`${name}=${word} is off`, () => {
      process.env[name] = word;
      assert.deepEqual([isOff(name), switchProblem()], [true, undefined]);
    });

  for (const word of ['', 'on', 'yes', 'true', '1'])
    test(`${name}=${word} is on`, () => {
      process.env[name] = word;
      assert.deepEqual([isOff(name), switchProblem()], [false, undefined]);
    });

  test(`no device opens with another word for ${name}`, () => {
    process.env[name] = 'nope';
    assert.throws(
      () => openDevice({ address: loopback(1) }),
      (error) =>
        error instanceof VerbsError &&
        error.errno === 'EINVAL' &&
        error.message.startsWith(`ibv_open_device: ${name} is 'nope' (EINVAL). Give on or off;`),
    );
  });
}
