import assert from 'node:assert/strict';
import { spawnSync } from 'node:child_process';
import { describe, it } from 'node:test';
import { nativeHostProblem } from '../../system/index.js';
import { loopback } from '../../../../test/support/loopback.js';

const LINKS = new URL('../index.js', import.meta.url).href;

describe('Ethernet frames of a UdpLink', { skip: nativeHostProblem() ?? false }, () => {
  it('are refused with a reason to a process without the right', (test) => {
    const source = `
      import { UdpLink } from '${LINKS}';
      const link = UdpLink.open({ address: '${loopback(1)}' });
      try { link.openFrames(); } catch (error) { console.log(error.name, error.errno, error.message); }
      link.close();`;
    // In a user namespace of its own, a process has no rights over a network that is not in there.
    const args = ['--user', process.execPath, '--input-type=module', '-e', source];
    const { error, stdout } = spawnSync('unshare', args, { encoding: 'utf8' });
    if (error !== undefined || stdout === '') {
      test.skip('no process without rights can be made here (unshare)');
      return;
    }
    assert.match(stdout, /^LinkError EPERM this process may not send and receive Ethernet frames on lo: .*CAP_NET_RAW/);
  });
});
