import { casesOf } from './types.js';

// By default an SRQ of 200 WRs and 1 SGE under the receiving end of a loopback RC pair, page buffers.
export const rdmaUnitTestSrq = casesOf('rdma-unit-test', 'unit/srq_test.cc', {
  'SrqTest.Create': 'create_srq with 200 WRs and 1 SGE succeeds; destroy_srq returns 0.',
  'SrqTest.DestroyInvalidSrq': 'destroy_srq of an SRQ with a broken handle returns ENOENT.',
  'SrqTest.CreateWithInvalidPd': 'create_srq on a PD with a broken handle returns null.',
  'SrqTest.CreateQpWithSrq': 'create_qp with an SRQ succeeds and the QP names it.',
  'SrqTest.PostWrongApi': 'post_recv on a QP that has an SRQ returns non-zero.',
  'SrqTest.MaxWr': 'post_srq_recv of a chain of max_wr receives returns 0.',
  'SrqTest.ExceedMaxWr': 'post_srq_recv of a chain of max_wr + 1 receives returns non-zero.',
  'SrqTest.MaxSge': 'post_srq_recv with max_sge SGEs returns 0.',
  'SrqTest.ExceedMaxSge': 'post_srq_recv with max_sge + 1 SGEs returns non-zero and bad_wr is that WR.',
  'SrqTest.DeviceCap': 'create_srq with max_srq_wr and max_srq_sge of the device succeeds.',
  'SrqTest.ExceedDeviceMaxWr': 'create_srq with max_srq_wr + 1 returns null.',
  'SrqTest.ExceedDeviceMaxSge': 'create_srq with max_srq_sge + 1 returns null.',
  'SrqTest.ModifyMaxWr':
    'Only with capability SRQ_RESIZE: a full SRQ refuses one more receive; after modify_srq raises max_wr by 10 (returns 0) it takes one.',
  'SrqTest.ExceedMaxWrInfinitChain':
    'post_srq_recv of a receive whose next points to itself returns non-zero in finite time, with bad_wr that WR.',
  'SrqTest.Send': 'RC SEND into a receive from the SRQ: SUCCESS at both ends with the data.',
  'SrqTest.SendManyWithOneOutstanding':
    '40 fresh setups (SRQ of 512 WRs, 2 SGEs) do 50,000 SENDs each, one at a time (2 of 500 on a slow device): all SUCCESS with wr_id and data.',
  'SrqTest.QpFlush':
    'A UD QP on the same SRQ goes to ERR: no receive completes for it, and a SEND to the RC QP still takes the posted receive, SUCCESS with the data.',
  'SrqTest.SrqLimit':
    'SRQ with 100 receives and limit armed at 50: 50 SENDs raise no async event (10 s), the 51st raises SRQ_LIMIT_REACHED.',
  'SrqTest.SendRnr': 'SEND while the SRQ is empty completes RNR_RETRY_EXC_ERR; receive buffer unchanged.',
  'SrqRcMultiplexTest.Send':
    '10 QP pairs on one SRQ, 8 SENDs of 8 bytes each: 80 RECV and 80 SEND completions SUCCESS, 8 receives per QP, all data landed.',
  'SrqRcMultiplexTest.WriteWithImmediate':
    '10 QP pairs on one SRQ with 80 zero-SGE receives, 8 WRITE_WITH_IMM each: completions SUCCESS as RECV_RDMA_WITH_IMM and RDMA_WRITE, 8 per QP; the imm (an offset) tells where data landed.',
  'SrqMultiThreadTest.MultiThreadedSrqLoopback':
    '50 threads post 20 one-byte receives each; of 1001 SENDs 1000 complete SUCCESS, each receive once, and the last RNR_RETRY_EXC_ERR.',
  'SrqMultiThreadTest.MultiThreadedMultiQpSingleSrq':
    '32 QP pairs with own CQs share one SRQ of 1024 (4 and 128 on a slow device); each thread sends batches of 32 and reposts: SENDs in order and SUCCESS, each receive has its SEND’s tag, never an RNR.',
  'SrqMultiThreadTest.MultiThreadedMultiSrq':
    '16 threads, each with an SRQ, a shared receive CQ and 128 QP pairs (2 and 32 on a slow device): every receive SUCCESS, from a known QP, with the thread’s tag and the next sequence number of that QP.',
});
