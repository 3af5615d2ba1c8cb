import { CmEventType } from '../../../device/ibta/index.js';
import { VerbsError } from '../../verbs/index.js';
import type { Identity } from '../identifiers/identity.js';
import { IdState } from '../identifiers/states.js';
import { type AddrInfo, type AddrInfoHints, getAddrInfo, numericAddrInfo } from './addr-info.js';

const CALL = 'rdma_resolve_addrinfo';

/** What `rdma_resolve_addrinfo` is asked for, and what `rdma_query_addrinfo` gives. */
export class AddrInfoRequest {
  #busy = false;
  #found: readonly AddrInfo[] | undefined;

  constructor(private readonly identity: Identity) {}

  start(node: string | undefined, service: string | number | undefined, hints: AddrInfoHints): void {
    const { identity } = this;
    identity.require('resolveAddrInfo');
    if (this.#busy) {
      const message = 'another request is under way, or its result was not taken';
      throw new VerbsError(CALL, { errno: 'EBUSY', message, advice: 'queryAddrInfo takes it' });
    }
    const known = numericAddrInfo(node, service, hints);
    if (known === undefined && identity.synchronous) {
      const message = 'asking for a name would need the event loop, which this call holds up';
      throw new VerbsError(CALL, { errno: 'EOPNOTSUPP', message, advice: 'Await getAddrInfo instead' });
    }
    this.#busy = true;
    if (known !== undefined) this.#succeed(known);
    else
      getAddrInfo(node, service, hints).then(
        (found) => this.#succeed(found),
        (error: unknown) => this.#fail(error),
      );
    identity.complete(CALL);
  }

  take(): readonly AddrInfo[] {
    this.identity.require('queryAddrInfo');
    const found = this.#found;
    if (found === undefined)
      throw new VerbsError('rdma_query_addrinfo', {
        errno: 'ENOENT',
        message: 'nothing was found yet',
        advice: 'Call resolveAddrInfo and wait for ADDRINFO_RESOLVED',
      });
    this.#found = undefined;
    this.#busy = false;
    return found;
  }

  #succeed(found: readonly AddrInfo[]): void {
    if (this.identity.state === IdState.DESTROYED) return;
    this.#found = found;
    this.identity.raise({ event: CmEventType.ADDRINFO_RESOLVED });
  }

  #fail(error: unknown): void {
    if (!(error instanceof VerbsError)) throw error;
    if (this.identity.state === IdState.DESTROYED) return;
    this.#busy = false;
    this.identity.raiseError(CmEventType.ADDRINFO_ERROR, error);
  }
}
