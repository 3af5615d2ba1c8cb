import type { Mutant } from '../mutant.js';

/** What ends an object of a program, by the file of the driver that it is in: dropped, the device would keep it for ever. */
const ENDS: readonly { name: string; what: string; file: string; from: string }[] = [
  {
    name: 'dealloc-pd',
    what: 'a protection domain',
    file: 'domains/protection-domain.ts',
    from: `this.context.endCommand('ibv_dealloc_pd', 'deallocPd', this.handle);`,
  },
  {
    name: 'dereg-mr',
    what: 'a memory region',
    file: 'memory/memory-region.ts',
    from: `if (!this.#closed) this.context.endCommand('ibv_dereg_mr', 'deregMr', this.#handle);`,
  },
  {
    name: 'dealloc-mw',
    what: 'a memory window',
    file: 'memory/memory-window.ts',
    from: `if (!this.#forfeited) this.context.endCommand('ibv_dealloc_mw', 'deallocMw', this.#handle);`,
  },
  {
    name: 'destroy-channel',
    what: 'a completion channel',
    file: 'completions/completion-channel.ts',
    from: `this.context.endCommand('ibv_destroy_comp_channel', 'destroyCompChannel', this.handle);`,
  },
  {
    name: 'destroy-cq',
    what: 'a completion queue',
    file: 'completions/completion-queue.ts',
    from: `this.context.endCommand('ibv_destroy_cq', 'destroyCq', this.cqn);`,
  },
  {
    name: 'close-xrcd',
    what: 'an XRC domain',
    file: 'domains/xrc-domain.ts',
    from: `this.context.endCommand('ibv_close_xrcd', 'closeXrcd', this.handle);`,
  },
  {
    name: 'destroy-srq',
    what: 'a shared receive queue',
    file: 'posting/shared-receive-queue.ts',
    from: `this.context.endCommand('ibv_destroy_srq', 'destroySrq', this.srqn);`,
  },
  {
    name: 'destroy-ah',
    what: 'an address handle',
    file: 'address-handle.ts',
    from: `this.context.endCommand('ibv_destroy_ah', 'destroyAh', this.handle);`,
  },
  {
    name: 'destroy-qp',
    what: 'a queue pair',
    file: 'posting/queue-pair.ts',
    from: `this.context.endCommand('ibv_destroy_qp', 'destroyQp', this.qpNum);`,
  },
  {
    name: 'destroy-xrc-target',
    what: 'the target of an extended reliable connection, with the last who holds it,',
    file: 'posting/xrc-target-qp.ts',
    from: `if (holders.size === 1) context.endCommand('ibv_destroy_qp', 'destroyQp', qpNum);`,
  },
];

/** What the driver owes the device when a program is done with something (`man ibv_dealloc_pd` and its neighbours). */
export const driver: readonly Mutant[] = [
  ...ENDS.map(({ name, what, file, from }): Mutant => ({
    name: `keeps-${name}`,
    rule: `${what} that is ended goes from the device as well`,
    source: 'man ibv_dealloc_pd, ibv_dereg_mr, ibv_destroy_qp and so on',
    file: `src/api/soft/driver/${file}`,
    from,
    to: '',
    games: ['walk'],
  })),
  {
    name: 'keeps-identifier',
    rule: 'an identifier of rdma_cm that is ended goes from the device as well',
    source: 'man rdma_destroy_id',
    file: 'src/api/rdmacm/events/dispatcher.ts',
    from: `this.device.execute('rdma_destroy_id', 'cmDestroyId', number);`,
    to: '',
    games: ['cm'],
  },
  {
    name: 'keeps-multicast',
    rule: 'an identifier that ends leaves the groups in which it is',
    source: 'man rdma_destroy_id, rdma_leave_multicast',
    file: 'src/api/rdmacm/calls/multicast.ts',
    from: 'this.pairs.qp?.detachMcast(membership.gid);',
    to: '',
    games: ['cm'],
  },
];
