import type { Context } from './context.js';
import type { Pd } from './protection-domain.js';

/**
 * `struct ibv_td`: a thread domain, the promise that one thread alone uses what is made in it. A hint: this changes
 * nothing that a program could see.
 */
export interface Td extends Disposable {
  readonly context: Context;

  /**
   * Ends the domain (`ibv_dealloc_td`).
   *
   * @throws VerbsError EBUSY while a parent domain is made from it; EINVAL when it was ended before
   */
  dealloc(): void;
}

/** What `allocParentDomain` takes (`struct ibv_parent_domain_init_attr`). */
export interface ParentDomainInitAttr {
  readonly pd: Pd;
  readonly td?: Td;
}

/**
 * A parent domain (`ibv_alloc_parent_domain`): a protection domain joined with a thread domain. It can stand wherever
 * a protection domain can, and what is made in it belongs to {@link pd}: keys of the one are good in the other.
 */
export interface ParentDomain extends Pd {
  /** The domain that it was made from. */
  readonly pd: Pd;
  readonly td: Td | undefined;
}
