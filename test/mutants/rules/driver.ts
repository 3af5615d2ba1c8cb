import type { Mutant } from '../mutant.js';

/** What ends an object of a program, by what ends it: dropped, the device would keep it for ever. */
const ENDS: readonly { name: string; what: string; in: string; from: string }[] = [
  {
    name: 'keeps-dealloc-pd',
    what: 'a protection domain',
    in: 'SoftPd.release',
    from: `this.context.endCommand('ibv_dealloc_pd', 'deallocPd', this.handle);`,
  },
  {
    name: 'keeps-dereg-mr',
    what: 'a memory region',
    in: 'SoftMr.release',
    from: `if (!this.#closed) this.context.endCommand('ibv_dereg_mr', 'deregMr', this.#handle);`,
  },
  {
    name: 'keeps-dealloc-mw',
    what: 'a memory window',
    in: 'SoftMw.forfeit',
    from: `if (!this.#forfeited) this.context.endCommand('ibv_dealloc_mw', 'deallocMw', this.#handle);`,
  },
  {
    name: 'keeps-destroy-channel',
    what: 'a completion channel',
    in: 'SoftCompChannel.release',
    from: `this.context.endCommand('ibv_destroy_comp_channel', 'destroyCompChannel', this.handle);`,
  },
  {
    name: 'keeps-destroy-cq',
    what: 'a completion queue',
    in: 'SoftCq.release',
    from: `this.context.endCommand('ibv_destroy_cq', 'destroyCq', this.cqn);`,
  },
  {
    name: 'keeps-close-xrcd',
    what: 'an XRC domain',
    in: 'SoftXrcd.release',
    from: `this.context.endCommand('ibv_close_xrcd', 'closeXrcd', this.handle);`,
  },
  {
    name: 'keeps-destroy-srq',
    what: 'a shared receive queue',
    in: 'SoftSrq.release',
    from: `this.context.endCommand('ibv_destroy_srq', 'destroySrq', this.srqn);`,
  },
  {
    name: 'keeps-destroy-ah',
    what: 'an address handle',
    in: 'SoftAh.release',
    from: `this.context.endCommand('ibv_destroy_ah', 'destroyAh', this.handle);`,
  },
  {
    name: 'keeps-destroy-qp',
    what: 'a queue pair',
    in: 'SoftQp.release',
    from: `this.context.endCommand('ibv_destroy_qp', 'destroyQp', this.qpNum);`,
  },
  {
    name: 'keeps-destroy-xrc-target',
    what: 'the target of an extended reliable connection, with the last who holds it,',
    in: 'SoftXrcTargetQp.release',
    from: `if (holders.size === 1) context.endCommand('ibv_destroy_qp', 'destroyQp', qpNum);`,
  },
];

/** What the driver owes the device when a program is done with something (`man ibv_dealloc_pd` and its neighbours). */
export const driver: readonly Mutant[] = [
  ...ENDS.map(({ what, ...place }): Mutant => ({
    ...place,
    rule: `${what} that is ended goes from the device as well`,
    source: 'man ibv_dealloc_pd, ibv_dereg_mr, ibv_destroy_qp and so on',
    to: '',
    games: ['walk'],
  })),
  {
    name: 'keeps-identifier',
    rule: 'an identifier of rdma_cm that is ended goes from the device as well',
    source: 'man rdma_destroy_id',
    in: 'Dispatcher.end',
    from: `this.device.execute('rdma_destroy_id', 'cmDestroyId', number);`,
    to: '',
    games: ['cm'],
  },
  {
    name: 'keeps-multicast',
    rule: 'an identifier that ends leaves the groups in which it is',
    source: 'man rdma_destroy_id, rdma_leave_multicast',
    in: 'Memberships.#detach',
    from: 'this.pairs.qp?.detachMcast(membership.gid);',
    to: '',
    games: ['cm'],
  },
];
