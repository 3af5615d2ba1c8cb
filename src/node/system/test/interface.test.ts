import assert from 'node:assert/strict';
import { execFileSync } from 'node:child_process';
import { describe, it } from 'node:test';
import { interfaceFacts, nativeHostProblem } from '../index.js';

const HOST = new URL('../index.js', import.meta.url).href;
const skip = process.platform === 'linux' ? false : 'interfaces are asked for on Linux only';

describe('an interface', { skip }, () => {
  it('tells its number, its MTU, its address and that it is up', () => {
    const loopback = interfaceFacts('lo');
    assert.deepEqual({ ...loopback, mtuBytes: 0 }, { index: 1, mtuBytes: 0, up: true, mac: new Uint8Array(6) });
    assert.ok((loopback?.mtuBytes ?? 0) >= 1280);
  });

  it('is told of without system calls as well', { skip: nativeHostProblem() ?? false }, () => {
    const source = `import { interfaceFacts } from '${HOST}'; console.log(JSON.stringify(interfaceFacts('lo')));`;
    const output = execFileSync(process.execPath, ['--input-type=module', '-e', source], {
      encoding: 'utf8',
      env: { ...process.env, VERBENA_NATIVE: 'off' },
    });
    assert.equal(output, `${JSON.stringify(interfaceFacts('lo'))}\n`);
  });

  it('that does not exist has nothing to tell', () => {
    for (const name of ['', 'nobody', 'a name that is too long for an interface', '../../../etc']) {
      assert.equal(interfaceFacts(name), undefined, name);
    }
  });
});
