/**
 * `computes HOST LINK ADDRESS QUEUE_PAIRS`: has queue pairs with receive requests and memory, computes without a pause when told to, and
 * otherwise lets its event loop run.
 */
import { existsSync } from 'node:fs';
import { type LinkKind, openDevice, SendFlags, WcStatus, WrOpcode } from '../../../../entry/index.js';
import { connectTo, infoOf } from '../../../../providers/soft/test/support/ends.js';
import { drainOne, makeSide, pattern } from '../../../../providers/soft/test/support/pair.js';
import { asEndInfo } from '../programs.js';

const RECEIVES = 16;
const BYTES = 1 << 20;

// The test that starts it gives these words.
const [host, link, address, count] = process.argv.slice(2) as ['auto' | 'inline' | 'thread', LinkKind, string, string];
const context = openDevice({ host, link, address });
const sides = Array.from({ length: Number(count) }, () => makeSide(context, { bytes: BYTES }));

/** Computes until a file is there. */
function compute(until: string): void {
  while (!existsSync(until));
}

function say(message: object): Promise<void> {
  return new Promise((resolve) => process.send?.(message, () => resolve()));
}

async function run(message: {
  peers?: unknown[];
  computeUntil?: string;
  readUntil?: string;
  end?: true;
}): Promise<void> {
  if (message.peers !== undefined) {
    message.peers.forEach((peer, i) => connectTo(sides[i], asEndInfo(peer), { timeout: 13 }));
    for (const { qp, mr } of sides) {
      for (let i = 0; i < RECEIVES; i += 1) qp.postRecv({ sgList: [mr.sge(0, 64)] });
      mr.bytes.set(pattern(BYTES / 2), BYTES / 2);
    }
    await say({ ready: true });
  } else if (message.computeUntil !== undefined) {
    await say({ computing: true });
    compute(message.computeUntil);
    await say({ computed: true });
  } else if (message.readUntil !== undefined) {
    // A READ of the peer's memory is under way while it computes.
    const [{ qp, mr, cq }] = sides;
    const peer = asEndInfo(await new Promise((resolve) => process.once('message', resolve)));
    const sgList = [mr.sge(0, BYTES / 2)];
    const rdma = { remoteAddr: BigInt(peer.addr), rkey: peer.rkey };
    qp.postSend({ opcode: WrOpcode.RDMA_READ, sendFlags: SendFlags.SIGNALED, sgList, rdma });
    await say({ computing: true });
    compute(message.readUntil);
    const { status } = drainOne(cq);
    await say({ status: status === WcStatus.SUCCESS ? 'SUCCESS' : status });
  } else {
    context.close();
    process.disconnect();
  }
}

process.on('message', (message: { peers?: unknown[] } & object) => {
  if ('address' in message) return;
  void run(message);
});
void say({ ends: sides.map(infoOf) });
