/** What queue pairs cost: `qp-cost COUNT` makes so many and reports, as a process of its own. */
import { openDevice, QpType } from '../../src/entry/index.js';

const count = Number(process.argv[2]);
const context = openDevice({ host: 'inline', address: `127.92.${process.pid % 256}.3` });
const pd = context.allocPd();
const cq = context.createCq({ cqe: 4096 });

function bytesInUse(): number {
  globalThis.gc?.();
  const { heapUsed, arrayBuffers } = process.memoryUsage();
  return heapUsed + arrayBuffers;
}

function create(): object {
  return pd.createQp({ qpType: QpType.RC, sendCq: cq, recvCq: cq, cap: { maxSendWr: 128, maxRecvWr: 128 } });
}

// What only the first costs is not what one costs.
let keep = [create()];
const before = bytesInUse();
const begun = performance.now();
for (let i = 0; i < count; i += 1) keep.push(create());
const us = ((performance.now() - begun) * 1000) / count;
const bytes = (bytesInUse() - before) / count;
keep = [];
process.once('message', () => process.send?.({ samples: [us, bytes / 1024] }));
