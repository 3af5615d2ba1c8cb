import { alloc } from '../../../api/provider/index.js';
import { countProblem, invalid, refuse, show, VerbsError } from '../../../api/verbs/index.js';
import type { XioSession, XioShare } from '../api.js';
import { type XioPooledBuffer, XioMemoryPool } from '../memory-pool.js';
import { XioError } from '../transport/index.js';
import { XioMempoolFlag } from './constants.js';
import type { LibxioMempool, XioRegMem } from './handles.js';
import { wrongState } from './problems.js';

/** Memory of the program's, and to which sessions it is granted. */
class RegMem implements XioRegMem {
  readonly handle = 'registered memory';
  readonly length: number;
  isGone = false;
  readonly #shares = new Map<XioSession, XioShare>();

  constructor(
    readonly addr: Uint8Array,
    readonly how: 'allocated' | 'registered' | 'pooled',
    readonly lease?: XioPooledBuffer,
  ) {
    this.length = addr.length;
  }

  /** What a session's peer calls it: from the first time on it can use it. */
  rkeyFor(session: XioSession): Uint8Array {
    let share = this.#shares.get(session);
    if (share === undefined || share.isRevoked) {
      share = session.share(this.addr, { access: 'read-write' });
      this.#shares.set(session, share);
      void session.closed.then(() => this.#shares.delete(session));
    }
    return share.token.slice();
  }

  /** No peer reaches it any more. */
  end(): void {
    this.isGone = true;
    for (const share of this.#shares.values()) share.revoke();
    this.#shares.clear();
    this.lease?.release();
  }
}

class MempoolCore implements LibxioMempool {
  readonly handle = 'mempool';
  readonly pool: XioMemoryPool;
  isDestroyed = false;

  constructor(smallestOnly: boolean) {
    this.pool = new XioMemoryPool({ slabs: [], smallestOnly });
  }
}

/** @throws VerbsError EINVAL for what is no such memory; XioError XIO_E_STATE for what was given back */
export function regMemOf(call: string, regMem: XioRegMem): RegMem {
  const given: unknown = regMem;
  if (!(given instanceof RegMem)) throw new VerbsError(call, invalid(`the memory is ${show(given)}`));
  if (given.isGone) throw wrongState(call, 'the memory was given back');
  return given;
}

function endOf(call: string, regMem: XioRegMem, how: RegMem['how']): void {
  const core = regMemOf(call, regMem);
  if (core.how !== how) throw wrongState(call, `the memory was ${core.how}`);
  core.end();
}

/** `xio_mem_alloc`: memory that NICs reach. @throws VerbsError EINVAL, ENOMEM */
export function xioMemAlloc(length: number): XioRegMem {
  return new RegMem(alloc(length), 'allocated');
}

/** `xio_mem_free`. Peers that it was granted to reach it no more. @throws XioError XIO_E_STATE for what was not allocated so, or given back before */
export function xioMemFree(regMem: XioRegMem): void {
  endOf('xioMemFree', regMem, 'allocated');
}

/** `xio_mem_register`: memory of the program's, which is registered when it is used. @throws VerbsError EINVAL for what has no bytes */
export function xioMemRegister(addr: Uint8Array): XioRegMem {
  const given: unknown = addr;
  if (!(given instanceof Uint8Array) || given.length === 0)
    throw new VerbsError('xioMemRegister', invalid(`addr is ${show(given)}`, 'It is a Uint8Array of a byte or more'));
  return new RegMem(given, 'registered');
}

/** `xio_mem_dereg`. Peers that it was granted to reach it no more. @throws XioError XIO_E_STATE as {@link xioMemFree} */
export function xioMemDereg(regMem: XioRegMem): void {
  endOf('xioMemDereg', regMem, 'registered');
}

/** @throws VerbsError EINVAL for what is no pool; XioError XIO_E_STATE for one that was destroyed */
function poolOf(call: string, pool: LibxioMempool): MempoolCore {
  const given: unknown = pool;
  if (!(given instanceof MempoolCore)) throw new VerbsError(call, invalid(`the pool is ${show(given)}`));
  if (given.isDestroyed) throw wrongState(call, 'the pool was destroyed');
  return given;
}

/**
 * `xio_mempool_create`: a pool without slabs.
 *
 * @param nodeid means nothing here: memory lies where the system has it
 * @param flags bits of {@link XioMempoolFlag}, of which XIO_MEMPOOL_FLAG_USE_SMALLEST_SLAB counts
 */
export function xioMempoolCreate(nodeid = -1, flags: number = XioMempoolFlag.XIO_MEMPOOL_FLAG_NONE): LibxioMempool {
  const call = 'xioMempoolCreate';
  if (!Number.isInteger(nodeid)) throw new VerbsError(call, invalid(`nodeid is ${show(nodeid)}`));
  refuse(call, countProblem('flags', flags, 0, 0x1f));
  const smallest = XioMempoolFlag.XIO_MEMPOOL_FLAG_USE_SMALLEST_SLAB;
  return new MempoolCore((flags & smallest) === smallest);
}

/**
 * `xio_mempool_add_slab`.
 *
 * @param size bytes of a buffer
 * @param min buffers that are made at once
 * @param max that there can be
 * @param allocQuantumNr that are made at a time
 * @param alignment a power of two; 0 is 64
 * @throws XioError XIO_E_NO_BUFS beyond 6 slabs, XIO_E_STATE; VerbsError EINVAL, ENOMEM
 */
export function xioMempoolAddSlab(
  pool: LibxioMempool,
  size: number,
  min: number,
  max: number,
  allocQuantumNr: number,
  alignment = 0,
): void {
  const core = poolOf('xioMempoolAddSlab', pool);
  const align = alignment === 0 ? undefined : alignment;
  core.pool.addSlab({ bytes: size, min, max, quantum: allocQuantumNr, align });
}

/** `xio_mempool_alloc`. @throws XioError XIO_E_NO_BUFS where none is left, XIO_E_STATE; VerbsError EINVAL, ENOMEM */
export function xioMempoolAlloc(pool: LibxioMempool, length: number): XioRegMem {
  const call = 'xioMempoolAlloc';
  const core = poolOf(call, pool);
  refuse(call, countProblem('length', length, 1, 2 ** 30));
  const lease = core.pool.lease(length);
  return new RegMem(lease.bytes, 'pooled', lease);
}

/** `xio_mempool_free`. Peers that it was granted to reach it no more. @throws XioError XIO_E_STATE as {@link xioMemFree} */
export function xioMempoolFree(regMem: XioRegMem): void {
  endOf('xioMempoolFree', regMem, 'pooled');
}

/** `xio_mempool_destroy`. @throws XioError XIO_E_STATE while buffers are lent, and a second time */
export function xioMempoolDestroy(pool: LibxioMempool): void {
  const call = 'xioMempoolDestroy';
  const core = poolOf(call, pool);
  const { lent } = core.pool;
  if (lent > 0) throw new XioError('XIO_E_STATE', `${call}: ${lent} buffers are lent`);
  core.pool[Symbol.dispose]();
  core.isDestroyed = true;
}
