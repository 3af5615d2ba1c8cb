/** `receive-then-busy ADDRESS`: answers messages inline, and after the last one computes without a pause. */
import { openDevice, WrOpcode } from '../../../../entry/index.js';
import { connectTo, infoOf } from '../../../../providers/soft/test/support/ends.js';
import { drainOne, makeSide } from '../../../../providers/soft/test/support/pair.js';
import { asEndInfo } from '../programs.js';

/** Messages that are answered at once, before the one that is not. */
const EXCHANGES = 100;

const side = makeSide(openDevice({ host: 'inline', address: process.argv[2] }));
process.once('message', (peer) => {
  connectTo(side, asEndInfo(peer));
  for (let i = 0; i <= EXCHANGES; i += 1) side.qp.postRecv({});
  process.send?.({ ready: true }, () => {
    for (let i = 0; i < EXCHANGES; i += 1) {
      drainOne(side.cq);
      side.qp.postSend({ opcode: WrOpcode.SEND });
    }
    drainOne(side.cq);
    for (;;);
  });
});
process.send?.(infoOf(side));
