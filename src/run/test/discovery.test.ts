import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { run, without } from './support.js';

describe("Debian's tools find the device", { skip: without('ibv_devinfo', 'ibverbs-utils') }, () => {
  it('in the list of devices', async () => {
    const { code, out } = await run(['ibv_devices']);
    assert.equal(code, 0);
    assert.match(out, /^ {4}rxe0\s+0256[0-9a-f]{2}fffe[0-9a-f]{6}$/m);
  });

  it('and ask it for all that there is to know', async () => {
    const { code, out, errors } = await run(['ibv_devinfo', '-v']);
    assert.deepEqual([code, errors], [0, '']);
    for (const line of [
      'state:\t\t\tPORT_ACTIVE (4)',
      'link_layer:\t\tEthernet',
      'atomic_cap:\t\t\tATOMIC_HCA (1)',
      'RoCE v2',
    ])
      assert.ok(out.includes(line), `'${line}' is in\n${out}`);
  });
});
