import { AccessFlags } from '../../../device/ibta/index.js';
import { bytesProblem, type FieldsOf, fieldsProblem, type Mr, type Pd, refuse } from '../../../api/verbs/index.js';
import { encodeRemoteBuffer, type RemoteBuffer } from './remote-buffer.js';

/** What peers may do with shared memory beside reading it. */
export interface ShareOptions {
  /** Default false. */
  readonly write?: boolean | undefined;
  /** Atomics. Default false. */
  readonly atomic?: boolean | undefined;
}

const FIELDS: FieldsOf<ShareOptions> = { write: true, atomic: true };

/** Memory of this program that peers can reach, until it is disposed of. `MessageConnection.share` makes it. */
export class SharedMemory implements Disposable {
  /** What a peer needs to know: plain data, for a message of the program's own. */
  readonly remote: RemoteBuffer;
  readonly #mr: Mr;

  /** @internal */
  constructor(
    pd: Pd,
    /** The memory itself. */
    readonly bytes: Uint8Array,
    options: ShareOptions,
  ) {
    refuse('share', bytesProblem('bytes', bytes) ?? fieldsProblem('options', options, FIELDS));
    const { write = false, atomic = false } = options;
    const changing = write || atomic ? AccessFlags.LOCAL_WRITE : 0;
    const access =
      AccessFlags.REMOTE_READ |
      changing |
      (write ? AccessFlags.REMOTE_WRITE : 0) |
      (atomic ? AccessFlags.REMOTE_ATOMIC : 0);
    this.#mr = pd.regMr(bytes, access);
    this.remote = { address: this.#mr.iova, key: this.#mr.rkey, length: bytes.length };
  }

  /** {@link remote} as 20 bytes; `decodeRemoteBuffer` reads them. */
  encode(): Uint8Array {
    return encodeRemoteBuffer(this.remote);
  }

  /** Takes it back: from now on nobody reaches it. A peer that tries loses its connection. Idempotent. */
  [Symbol.dispose](): void {
    this.#mr[Symbol.dispose]();
  }
}
