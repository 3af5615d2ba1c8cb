/** The C fragments of well-known course notes, in order: the calls and names that each uses, and the same here. */

export interface Fragment {
  readonly place: string;
  readonly c: readonly string[];
  /** Functions of `file` that do the same. */
  readonly ours: readonly string[];
  readonly file: string;
  readonly note?: string;
}

export interface FragmentSource {
  readonly title: string;
  readonly fragments: readonly Fragment[];
}

export const fragmentSources: readonly FragmentSource[] = [
  {
    title: 'The Fundamentals of RDMA Programming',
    fragments: [
      {
        place: 'Lesson 14: memory registration',
        c: ['ibv_reg_mr', 'struct ibv_mr { addr, length, lkey, rkey }', 'ibv_dereg_mr'],
        file: 'course.ts',
        ours: ['registerMemory'],
      },
      {
        place: 'Lesson 15: send requests',
        c: [
          'struct ibv_sge',
          'struct ibv_send_wr { wr_id, next, sg_list, num_sge, opcode, send_flags, imm_data, wr.rdma, wr.atomic }',
          'IBV_SEND_FENCE, _SIGNALED, _SOLICITED, _INLINE',
          'ibv_post_send',
        ],
        file: 'course.ts',
        ours: ['postSends'],
      },
      {
        place: 'Lesson 16: receive requests',
        c: ['struct ibv_recv_wr { wr_id, next, sg_list, num_sge }', 'ibv_post_recv(qp, wr, &bad_wr)'],
        file: 'course.ts',
        ours: ['postReceives'],
      },
      {
        place: 'Lesson 17: completions',
        c: ['struct ibv_wc', 'ibv_poll_cq', 'IBV_WC_SUCCESS and other statuses', 'IBV_WC_WITH_IMM'],
        file: 'course.ts',
        ours: ['pollCompletions'],
      },
    ],
  },
  {
    title: 'RDMA-Aware Programming Overview',
    fragments: [
      {
        place: 'Typical application, steps 1 to 10',
        c: [
          'ibv_get_device_list',
          'ibv_open_device',
          'ibv_query_device',
          'ibv_alloc_pd',
          'ibv_reg_mr',
          'ibv_create_cq',
          'ibv_create_qp',
          'ibv_modify_qp three times',
          'ibv_post_recv',
          'ibv_post_send',
          'ibv_poll_cq',
          'ibv_destroy_qp and so on, in reverse',
        ],
        file: 'overview.ts',
        ours: ['typicalApplication'],
      },
    ],
  },
  {
    title: 'Verbs, librdma, HERD: notes',
    fragments: [
      {
        place: 'Constants and types',
        c: [
          'enum ibv_qp_type',
          'enum ibv_wr_opcode',
          'struct ibv_device, ibv_context, ibv_srq, ibv_comp_channel, ibv_qp, ibv_wc',
        ],
        file: 'notes.ts',
        ours: [],
        note:
          '`QpType.RC`, `.UC`, `.UD`, `.RAW_PACKET`; `WrOpcode.RDMA_WRITE` and so on; `Device`, `Context`, `Srq`, `CompChannel`, ' +
          '`Qp` (its states are `QpState`), `WorkCompletion`.',
      },
      {
        place: 'Sequence of commands',
        c: [
          'ibv_create_ah',
          'ibv_alloc_pd',
          'ibv_create_cq',
          'ibv_create_qp',
          'ibv_create_srq',
          'ibv_modify_qp',
          'ibv_reg_mr',
          'ibv_post_send',
          'ibv_post_recv',
          'ibv_poll_cq',
        ],
        file: 'notes.ts',
        ours: ['sequenceOfCommands'],
        note: 'A QP with an SRQ has no receive queue of its own: requests are posted to the SRQ.',
      },
      {
        place: 'librdma: posting',
        c: ['rdma_post_ud_send', 'rdma_post_sendv', 'rdma_post_writev', 'rdma_post_readv'],
        file: 'notes.ts',
        ours: ['postDatagram', 'postByIdentifier'],
        note: 'Each is one `qp.postSend`: SEND with `ud`, SEND, RDMA_WRITE, RDMA_READ.',
      },
      {
        place: 'HERD: requests by WRITE over UC, replies by SEND over UD',
        c: [
          'ibv_create_qp (UC, then UD)',
          'ibv_modify_qp to INIT, RTR, RTS',
          'ibv_create_ah',
          'ibv_post_send (IBV_WR_RDMA_WRITE, IBV_WR_SEND; IBV_SEND_INLINE)',
        ],
        file: 'notes.ts',
        ours: ['createDatagramQp', 'connectUnreliably', 'requestByWrite', 'replyBySend'],
      },
    ],
  },
  {
    title: 'RDMA Programming: slides',
    fragments: [
      {
        place: 'Connection setup: from an address to a connection',
        c: [
          'rdma_create_event_channel',
          'rdma_create_id',
          'rdma_resolve_addr',
          'rdma_get_cm_event',
          'rdma_ack_cm_event',
          'rdma_resolve_route',
          'rdma_connect',
        ],
        file: 'slides.ts',
        ours: ['connectTo'],
        note:
          '`createEventChannel()` makes the channel. `connect({ host, port })` does all of it, `listen({ port })` the same on ' +
          'the other side.',
      },
      {
        place: 'Connection setup: domain, completion queue, queue pair',
        c: [
          'ibv_alloc_pd',
          'ibv_create_comp_channel',
          'ibv_create_cq(verbs, cqe, context, channel, 0)',
          'ibv_req_notify_cq(cq, 0)',
          'struct ibv_qp_init_attr',
          'rdma_create_qp',
        ],
        file: 'slides.ts',
        ours: ['createQueues'],
        note: 'On an identifier the last call is `id.createQp(pd, init)`, which makes completion queues when none are given.',
      },
      {
        place: 'Memory registration, SGE, SEND and RECV',
        c: ['ibv_reg_mr', 'sge.addr, sge.length, sge.lkey', 'ibv_post_send', 'ibv_post_recv'],
        file: 'slides.ts',
        ours: ['sendAndReceive'],
      },
      {
        place: 'Completion events, wr_id',
        c: ['ibv_get_cq_event', 'ibv_req_notify_cq', 'ibv_poll_cq', 'ibv_ack_cq_events', 'wc.wr_id'],
        file: 'slides.ts',
        ours: ['awaitCompletions'],
        note: '`channel.getCqEvent()` blocks the thread, as the C call does; the loop leaves it free.',
      },
      {
        place: 'WRITE and READ of remote memory',
        c: ['IBV_WR_RDMA_WRITE, IBV_WR_RDMA_READ', 'wr.wr.rdma.remote_addr', 'wr.wr.rdma.rkey'],
        file: 'slides.ts',
        ours: ['writeAt'],
      },
      {
        place: 'Clean up',
        c: ['rdma_destroy_qp', 'ibv_destroy_cq', 'ibv_destroy_comp_channel', 'ibv_dealloc_pd'],
        file: 'slides.ts',
        ours: ['cleanUp'],
        note: 'With `using`, or by `context.close()`, all of it ends by itself.',
      },
    ],
  },
  {
    title: 'Labs A to D',
    fragments: [
      {
        place: 'Lab A: two QPs in one process',
        c: ['ibv_post_recv', 'ibv_post_send', 'ibv_poll_cq'],
        file: 'labs.ts',
        ours: ['createQueuePair'],
        note: 'The whole of it is [labs/lab-a.ts](../labs/lab-a.ts); `bin/verbena lab a` runs it.',
      },
      {
        place: 'Lab B: the reference sample',
        c: ['ibv_devices', 'ibv_rc_pingpong'],
        file: 'labs.ts',
        ours: [],
        note: '`bin/verbena ibv_devices` and `bin/verbena ibv_rc_pingpong`; either side may be the C tool.',
      },
      {
        place: 'Lab C, 2: what the peers exchange',
        c: ['struct conn_info { gid, lid, qpn, psn, port_num, sl, mtu, raddr, rkey }'],
        file: 'labs.ts',
        ours: ['ConnInfo', 'describeSelf'],
        note: '`lid` and `sl` mean nothing on RoCE, and there is one port.',
      },
      {
        place: 'Lab C, 3: INIT, RTR, RTS',
        c: ['ibv_modify_qp with masks'],
        file: 'labs.ts',
        ours: ['connectQueuePair'],
      },
      {
        place: 'Lab C, 4: one-sided work',
        c: ['wr.opcode = IBV_WR_RDMA_WRITE', 'wr.wr.rdma.remote_addr = peer.raddr', 'wr.wr.rdma.rkey = peer.rkey'],
        file: 'labs.ts',
        ours: ['writeToPeer'],
        note: 'The whole of it is [labs/lab-c.ts](../labs/lab-c.ts); `bin/verbena lab c` runs it.',
      },
      {
        place: 'Lab D: memory of a GPU',
        c: ['ibv_reg_mr'],
        file: 'labs.ts',
        ours: [],
        note: 'The same call, for a buffer of `verbena/gpu`: `pd.regMr(gpuBuffer, access)`.',
      },
    ],
  },
];
