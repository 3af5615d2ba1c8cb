import { AtomicOp, type Capabilities } from '../../../../protocols/ucp/bare/index.js';
import { bytesOf, type Plan } from '../plan.js';
import type { UctTest, UctTestName } from '../tests.js';

const OPS: Partial<Readonly<Record<UctTestName, AtomicOp>>> = { swap: AtomicOp.SWAP, cswap: AtomicOp.CSWAP };

/** Bytes of the longest message of a test. */
function mostOf({ name, family }: UctTest, { sendLayout }: Plan, { am, put, get }: Capabilities): number {
  const way = sendLayout === 'zcopy' || sendLayout === 'bcopy' ? sendLayout : 'short';
  if (family === 'am') return am[way];
  if (name !== 'get') return put[way];
  return way === 'short' ? 0 : get[way];
}

/** Why a transport cannot do what is wanted; undefined when it can. */
export function refusalOf(test: UctTest, plan: Plan, capabilities: Capabilities): string | undefined {
  const { transport, headerBytes, sendLayout } = plan;
  const bytes = bytesOf(plan);
  if (test.family !== 'am' && capabilities.put.zcopy === 0)
    return `${transport} has no RDMA: of the tests of UCT it does am_lat and am_bw.`;
  if (test.family === 'atomic') {
    const can = capabilities.atomics[bytes === 4 ? 4 : 8].includes(OPS[test.name] ?? AtomicOp.ADD);
    if (can) return undefined;
    if (transport === 'self') return 'self has atomics only where the NIC runs in this thread: give --host inline.';
    return `${transport} cannot do ${test.name} of ${bytes} bytes: an adapter has add and compare-and-swap, of 8 bytes.`;
  }
  const most = mostOf(test, plan, capabilities);
  if (bytes > most)
    return `${test.name} by ${transport} takes ${most} bytes at most by -D ${sendLayout}, not ${bytes}; choose by -s or -D.`;
  if (test.family === 'am' && sendLayout === 'zcopy' && headerBytes > capabilities.am.header)
    return `By ${transport} a header has ${capabilities.am.header} bytes at most, not ${headerBytes}; choose by -H.`;
  return undefined;
}
