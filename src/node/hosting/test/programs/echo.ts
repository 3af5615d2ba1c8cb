/** `echo HOST ADDRESS`: answers each SEND with the same bytes turned round, until told to end. */
import { openDevice, WrOpcode } from '../../../../entry/index.js';
import { connectTo, infoOf } from '../../../../providers/soft/test/support/ends.js';
import { makeSide } from '../../../../providers/soft/test/support/pair.js';
import { asEndInfo } from '../programs.js';

const [host, address] = process.argv.slice(2);
const context = openDevice({ host: host === 'inline' ? 'inline' : 'thread', address });
const side = makeSide(context);
const SLOT = 4096;
const SLOTS = 8;

const postSlot = (slot: number): void => side.qp.postRecv({ wrId: slot, sgList: [side.mr.sge(slot * SLOT, SLOT)] });

/** Arms, then answers: what has come before is found, and what comes after raises an event. */
function answer(): void {
  side.cq.reqNotify();
  for (const { wrId, byteLen } of side.cq.poll()) {
    const slot = Number(wrId);
    side.mr.bytes.subarray(slot * SLOT, slot * SLOT + byteLen).reverse();
    side.qp.postSend({ opcode: WrOpcode.SEND, sgList: [side.mr.sge(slot * SLOT, byteLen)] });
    postSlot(slot);
  }
}

async function serve(): Promise<void> {
  for await (const cq of side.channel) {
    cq.ackEvents();
    answer();
  }
}

process.once('message', (peer) => {
  connectTo(side, asEndInfo(peer));
  for (let slot = 0; slot < SLOTS; slot += 1) postSlot(slot);
  process.once('message', () => {
    context.close();
    process.disconnect();
  });
  answer();
  void serve();
  process.send?.({ ready: true });
});
process.send?.(infoOf(side));
