import assert from 'node:assert/strict';
import { after, before, describe, it } from 'node:test';
import { loopback } from '../../../test/support/loopback.js';
import { VerbsError } from '../../api/verbs/index.js';
import { CommandError } from '../../device/nic/index.js';
import { inC } from '../reports/c-vocabulary.js';
import { errnoOf, Refusal, refusalText, requireWithin } from '../refusal.js';
import { CProgram, compilerProblem } from './c-program.js';
import { cannotRun, type Played, run } from './support.js';

const OWN = loopback(11);

describe('a sentence for a C program', () => {
  for (const [ours, theirs] of [
    ['ahAttr has no GRH: set isGlobal, and grh.dgid', 'ah_attr has no GRH: set is_global, and grh.dgid'],
    ['cap.maxInlineData of createQp', 'cap.max_inline_data of ibv_create_qp'],
    ['queryDevice() tells what the device takes: maxSrqWr', 'ibv_query_device tells what the device takes: max_srq_wr'],
    ['It comes after resolveAddr', 'It comes after rdma_resolve_addr'],
    ['sgList[0] (64 bytes at 0x55aB)', 'sg_list[0] (64 bytes at 0x55aB)'],
    [
      'CQ 1 is in use by QP 0x3. End what uses it first; `using` ends things in the right order',
      'CQ 1 is in use by QP 0x3. End what uses it first',
    ],
    ['iWARP and usNIC are not RoCE, RDMA_READ is', 'iWARP and usNIC are not RoCE, RDMA_READ is'],
  ])
    it(`has C's names: ${theirs.slice(0, 40)}`, () => assert.equal(inC(ours), theirs));
});

describe('the reason of a refusal', () => {
  it('is that of the API, the device or the launcher, with the errno in front', () => {
    const problem = { errno: 'EINVAL', message: 'qpType is 9', advice: 'Choose a qpType that there is' } as const;
    assert.equal(
      refusalText(new VerbsError('ibv_create_qp', problem)),
      'EINVAL: qp_type is 9. Choose a qp_type that there is',
    );
    assert.equal(refusalText(new CommandError('ENOMEM', 'no more than 4 queues')), 'ENOMEM: no more than 4 queues');
    assert.throws(
      () => requireWithin('cqe', 0, 1, 8),
      (error) => refusalText(error) === 'EINVAL: cqe is 0. This device takes 1 to 8' && errnoOf(error) === 22,
    );
  });

  it('is nothing where the library only tries what there is', () => {
    assert.equal(refusalText(new Refusal('EPROTONOSUPPORT')), undefined);
  });
});

const REFUSED: readonly (readonly [tried: string, said: RegExp])[] = [
  ['max_send_wr', /ibv_create_qp: EINVAL: cap\.max_send_wr is 40000\. This device takes 0 to 16383/],
  ['max_send_sge', /ibv_create_qp: EINVAL: cap\.max_send_sge is 64\. /],
  ['max_inline_data', /ibv_create_qp: EINVAL: cap\.max_inline_data is 4096\. /],
  ['raw', /ibv_create_qp: (EOPNOTSUPP: qp_type is 8|EPERM: raw packets)/],
  ['cqe', /ibv_create_cq: EINVAL: cqe is 2097152\. /],
  ['comp_vector', /ibv_create_cq: EINVAL: comp_vector is 7\. /],
  ['no bytes', /ibv_reg_mr: EINVAL: length is 0/],
  ['remote without local', /ibv_reg_mr: EINVAL: access has REMOTE_WRITE .* without LOCAL_WRITE/],
  ['constant', /ibv_reg_mr: EFAULT: 8 bytes at 0x[0-9a-f]+ are not all writable memory/],
  ['on demand', /ibv_reg_mr: EOPNOTSUPP: .*Leave IBV_ACCESS_ON_DEMAND out/],
  ['srq max_wr', /ibv_create_srq: EINVAL: max_wr is 1048576\. /],
  ['srq_limit', /ibv_modify_srq: EINVAL: srq_limit is 99\. /],
  ['ah', /ibv_create_ah: EINVAL: attr has no GRH, .* set is_global/],
  ['no pkey_index', /ibv_modify_qp of QP 0x\w+, RESET to INIT: EINVAL: .* needs IBV_QP_PKEY_INDEX/],
  ['port 2', /RESET to INIT: EINVAL: there is no port 2; this device has port 1/],
  ['no grh', /INIT to RTR: EINVAL: ah_attr has no GRH, which RoCE needs: set is_global, and grh\.dgid/],
  ['sgid_index', /INIT to RTR: EINVAL: GID index 9 is empty/],
  ['no min_rnr_timer', /INIT to RTR: EINVAL: .* needs IBV_QP_MIN_RNR_TIMER/],
  ['path_mtu', /INIT to RTR: EINVAL: path_mtu is 9/],
  ['skips', /INIT to RTS: EINVAL: a QP in INIT cannot go to RTS/],
  ['max_rd_atomic', /RTR to RTS: EINVAL: max_rd_atomic is 200; this device takes at most 128/],
  ['attach', /ibv_attach_mcast of QP 0x\w+: EINVAL: only queue pairs of type UD/],
  ['busy pd', /ibv_dealloc_pd: EBUSY: PD \d+ is in use by SRQ 0x\w+ and QP 0x\w+\. End what uses it first$/],
  ['busy cq', /ibv_destroy_cq: EBUSY: CQ \d+ is in use by QP 0x\w+\. End what uses it first$/],
  ['foreign address', /rdma_bind_addr: EADDRNOTAVAIL: no device of this program has address 10\.1\.2\.3/],
  ['listen unbound twice', /rdma_listen: EINVAL: the identifier is in state LISTEN\. It comes after rdma_bind_addr/],
  ['port in use', /rdma_bind_addr: EADDRINUSE: port \d+ is in use by another identifier/],
  [
    'resolved RDMA_CM_EVENT_ADDR_ERROR',
    /RDMA_CM_EVENT_ADDR_ERROR, status -19, to 192\.0\.2\.1:7471: .* --addr of the network/,
  ],
  ['private data', /rdma_connect: EINVAL: private_data has 200 bytes\. The message has room for 56/],
  [
    'connected RDMA_CM_EVENT_REJECTED',
    /RDMA_CM_EVENT_REJECTED, status 8, to \S+:1: .*nobody listens .* listen at 0\.0\.0\.0:\d+/,
  ],
];

describe(
  'a C program under --explain',
  { skip: cannotRun !== false ? cannotRun : (compilerProblem() ?? false) },
  () => {
    let program: CProgram;
    let played: Played;

    before(async () => {
      program = new CProgram('refusals');
      played = await run([program.path, OWN], ['--explain'], 11);
    });
    after(() => program.remove());

    it('makes each call, and ends', () => {
      assert.equal(played.code, 0, played.errors);
      const tried = played.out.split('\n');
      for (const [what] of REFUSED)
        assert.ok(
          tried.some((line) => line.startsWith(what)),
          `${what}: ${played.out}`,
        );
    });

    it('is told of each that was refused why, once, and of nothing else', () => {
      const said = played.errors.trimEnd().split('\n');
      assert.deepEqual(
        said
          .map((line) => line.replace(/^verbena run: refusals \(pid \d+\), /, ''))
          .map((line, at) => [at, REFUSED[at]?.[1].test(line)]),
        REFUSED.map((_, at) => [at, true]),
        played.errors,
      );
    });
  },
);
