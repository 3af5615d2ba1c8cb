import { GpuKind, gpuProblem, openGpu } from '../../../entry/gpu.js';
import { nameOf, SendFlags, WcStatus, WrOpcode } from '../../../entry/index.js';
import { ALL_ACCESS, drainOne, Pair } from '../../../providers/soft/test/support/pair.js';
import { NET } from '../../../../test/support/loopback.js';

const BYTES = 4096;

/** WRITEs out of the device, or into it, until that fails. */
async function untilFailure(host: 'inline' | 'thread', side: string): Promise<void> {
  const pair = new Pair(host, NET, { bytes: BYTES });
  const { a, b } = pair;
  const isLocal = side === 'local';
  const buffer = openGpu({ kind: GpuKind.CUDA }).alloc(BYTES);
  const mr = (isLocal ? a : b).pd.regMr(buffer, ALL_ACCESS);
  const [from, to] = isLocal ? [mr, b.mr] : [a.mr, mr];
  const rdma = { remoteAddr: to.iova, rkey: to.rkey };
  for (;;) {
    a.qp.postSend({ opcode: WrOpcode.RDMA_WRITE, sgList: [from.sge()], rdma, sendFlags: SendFlags.SIGNALED });
    const wc = drainOne(a.cq);
    if (wc.status === WcStatus.SUCCESS) continue;
    console.log(`status ${nameOf(WcStatus, wc.status)}`);
    console.log(`why ${isLocal ? a.context.explain(wc) : b.context.explain(b.context.getAsyncEvent())}`);
    break;
  }
  mr.dereg();
  pair[Symbol.dispose]();
  // Warnings of the NIC's thread come by the event loop.
  await new Promise((resolve) => setImmediate(resolve));
}

const [what, host, side = ''] = process.argv.slice(2);
if (what === 'problem') console.log(gpuProblem(host === 'opencl' ? GpuKind.OPENCL : GpuKind.CUDA));
else await untilFailure(host === 'thread' ? 'thread' : 'inline', side);
