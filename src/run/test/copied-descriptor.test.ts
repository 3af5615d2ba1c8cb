import assert from 'node:assert/strict';
import { writeSync } from 'node:fs';
import { describe, it } from 'node:test';
import { Structs } from '../uverbs/structs.js';
import { UverbsFile } from '../uverbs/uverbs-file.js';
import { openDevice } from '../../entry/index.js';
import { nativeHostProblem } from '../../node/system/index.js';
import { loopback } from '../../../test/support/loopback.js';

const POST_SEND = 28;

function opened() {
  const address = loopback(1);
  const context = openDevice({ host: 'inline', address });
  const device = {
    name: 'rxe0',
    address,
    interfaceName: 'lo',
    context,
    openClient: () => openDevice({ device: context.share() }),
  };
  const file = new UverbsFile({
    node: { kind: 'device', driver: 'uverbs', index: 0, major: 231, minor: 192 },
    pid: process.pid,
    devices: [device],
    failures: undefined,
    onPosted: () => undefined,
    letGo: () => undefined,
  });
  const close = (): void => {
    file.close();
    context.close();
  };
  return { file, close };
}

describe('a doorbell by a copy of the descriptor of a device', { skip: nativeHostProblem() ?? false }, () => {
  it('is found, and the next is looked for sooner, since nobody tells of it', (t) => {
    const { file, close } = opened();
    t.after(close);
    assert.deepEqual([file.pull(), file.needsLook], [false, false]);
    // Such a call goes to the kernel.
    writeSync(file.fd, Structs.DOORBELL.request.encodePadded({ command: POST_SEND, handle: 0 }));
    assert.deepEqual([file.pull(), file.needsLook], [true, true]);
    assert.deepEqual([file.pull(), file.needsLook], [false, true]);
  });
});
