import assert from 'node:assert/strict';
import { spawnSync } from 'node:child_process';
import { describe, it } from 'node:test';
import { cannotRun, run } from './support.js';

const PAD_BYTES = 65536;
const PYTHON = '/usr/bin/python3';
/** Without it the stacks of two programs lie at different addresses. */
const FIXED = ['setarch', '-R', PYTHON, '-c'];

function missing(): string | false {
  if (cannotRun !== false) return cannotRun;
  if (spawnSync(PYTHON, ['-c', 'import pyverbs.qp']).status !== 0)
    return 'there is no pyverbs here (Debian: python3-pyverbs)';
  return spawnSync('setarch', ['-R', 'true']).status === 0 ? false : 'addresses cannot be fixed here (setarch -R)';
}

/** What runs afterwards. At the top of its stack lies its environment, and most of that is `PAD`. */
const SECOND = 'sleep 1; tr -dc % </proc/$$/environ | wc -c';

/**
 * What runs before: it has registered the top of its stack, and writes to it over a network that takes a while, from one queue pair
 * of its own to another. The device it leaves to whatever runs afterwards, so that nothing ends.
 */
const FIRST = `
import ctypes, os
from pyverbs.device import Context
from pyverbs.pd import PD
from pyverbs.mr import MR
from pyverbs.cq import CQ
from pyverbs.qp import QP, QPCap, QPInitAttr, QPAttr
from pyverbs.addr import AHAttr, GlobalRoute
from pyverbs.wr import SGE, SendWR
import pyverbs.enums as e
PAD, SIZE = ${PAD_BYTES}, 4096
TARGET = 0x7ffffffff000 - PAD // 2
context = Context(name='rxe0')
pd = PD(context)
source = MR(pd, SIZE, e.IBV_ACCESS_LOCAL_WRITE)
target = MR(pd, SIZE, e.IBV_ACCESS_LOCAL_WRITE | e.IBV_ACCESS_REMOTE_WRITE, address=TARGET)
cq = CQ(context, 100)
qps = [QP(pd, QPInitAttr(qp_type=e.IBV_QPT_RC, scq=cq, rcq=cq, cap=QPCap(max_send_wr=1))) for i in range(2)]
for qp, peer in zip(qps, reversed(qps)):
    attr = QPAttr(port_num=1)
    attr.qp_access_flags = e.IBV_ACCESS_REMOTE_WRITE
    attr.dest_qp_num = peer.qp_num
    attr.path_mtu = e.IBV_MTU_4096
    attr.timeout, attr.retry_cnt, attr.rnr_retry, attr.max_rd_atomic = 18, 7, 7, 1
    attr.ah_attr = AHAttr(gr=GlobalRoute(dgid=context.query_gid(1, 0), sgid_index=0), is_global=1, port_num=1)
    qp.to_rts(attr)
request = SendWR(opcode=e.IBV_WR_RDMA_WRITE, num_sge=1, sg=[SGE(source.buf, SIZE, source.lkey)], send_flags=0)
request.set_wr_rdma(target.rkey, TARGET)
for fd in os.listdir('/proc/self/fd'):
    try: os.set_inheritable(int(fd), True)
    except OSError: pass
qps[0].post_send(request)
os.execve('/bin/sh', ['sh', '-c', ${JSON.stringify(SECOND)}], {'PATH': os.environ['PATH'], 'PAD': '%' * PAD})
`;

describe('a program that runs another in its place', { skip: missing() }, () => {
  it('takes its memory along: no request of the one reaches that of the other', async () => {
    const words = ['env', '-i', `PATH=${process.env['PATH'] ?? ''}`, `PAD=${'%'.repeat(PAD_BYTES)}`, ...FIXED, FIRST];
    const { code, out, errors } = await run(words, ['--netem', 'delay 200ms']);
    assert.deepEqual([code, out], [0, `${PAD_BYTES}\n`], errors);
  });
});
