/** `busy ADDRESS`: offers its memory, and then computes without a pause. */
import { openDevice } from '../../../../entry/index.js';
import { connectTo, infoOf } from '../../../../providers/soft/test/support/ends.js';
import { makeSide, pattern } from '../../../../providers/soft/test/support/pair.js';
import { asEndInfo } from '../programs.js';

const side = makeSide(openDevice({ host: 'thread', address: process.argv[2] }));
side.mr.bytes.set(pattern(side.mr.length));
process.once('message', (peer) => {
  connectTo(side, asEndInfo(peer));
  process.send?.({ ready: true }, () => {
    for (;;);
  });
});
process.send?.(infoOf(side));
