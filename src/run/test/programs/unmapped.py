"""Writes into its own registered memory twice; before the second time it unmaps that (remote), what it writes from (local), or
deregisters it (key). Prints the status of each."""
import ctypes
import mmap
import sys
import pyverbs.enums as e
from pyverbs.device import Context
from pyverbs.pd import PD
from pyverbs.cq import CQ
from pyverbs.mr import MR
from pyverbs.qp import QP, QPAttr, QPCap, QPInitAttr
from pyverbs.addr import AHAttr, GlobalRoute
from pyverbs.wr import SendWR, RecvWR, SGE
what = sys.argv[1]
libc = ctypes.CDLL(None, use_errno=True)
libc.mmap.restype = ctypes.c_void_p
libc.mmap.argtypes = [ctypes.c_void_p, ctypes.c_size_t] + [ctypes.c_int] * 3 + [ctypes.c_long]
libc.munmap.argtypes = [ctypes.c_void_p, ctypes.c_size_t]
SIZE = 65536
ctx = Context(name='rxe0')
pd, cq = PD(ctx), CQ(ctx, 64)
def qp():
    init = QPInitAttr(qp_type=e.IBV_QPT_RC, scq=cq, rcq=cq, cap=QPCap(16, 16, 1, 1), sq_sig_all=1)
    return QP(pd, init, QPAttr())
a, b = qp(), qp()
gid = ctx.query_gid(1, 0)
for one, other in ((a, b), (b, a)):
    attr = QPAttr(port_num=1)
    attr.qp_access_flags = e.IBV_ACCESS_REMOTE_WRITE | e.IBV_ACCESS_REMOTE_READ
    one.to_init(attr)
    attr.dest_qp_num = other.qp_num
    attr.path_mtu = e.IBV_MTU_1024
    attr.max_dest_rd_atomic = attr.max_rd_atomic = 1
    attr.min_rnr_timer = 12
    attr.timeout, attr.retry_cnt, attr.rnr_retry = 14, 7, 7
    attr.ah_attr = AHAttr(gr=GlobalRoute(dgid=gid, sgid_index=0), is_global=1, port_num=1)
    one.to_rts(attr)
access = e.IBV_ACCESS_LOCAL_WRITE | e.IBV_ACCESS_REMOTE_WRITE | e.IBV_ACCESS_REMOTE_READ
def region():
    at = libc.mmap(None, SIZE, 3, mmap.MAP_PRIVATE | mmap.MAP_ANONYMOUS, -1, 0)
    return at, MR(pd, SIZE, access, address=at)
mine, local = region()
theirs, remote = region()
rkey = remote.rkey
def write(wr_id):
    wr = SendWR(wr_id=wr_id, opcode=e.IBV_WR_RDMA_WRITE, num_sge=1, sg=[SGE(mine, SIZE, local.lkey)], send_flags=e.IBV_SEND_SIGNALED)
    wr.set_wr_rdma(rkey, theirs)
    a.post_send(wr)
    while True:
        n, wcs = cq.poll(1)
        if n: return wcs[0].status
print(write(1))
if what == 'remote': libc.munmap(theirs, SIZE)
elif what == 'local': libc.munmap(mine, SIZE)
elif what == 'key': remote.close()
print(write(2))
