import { XioStatus } from '../../wire/index.js';
import { check } from '../../../../../test/sim/failure.js';
import type { Ledger } from './ledger.js';

/** Bytes that one write has for itself. */
export const CELL_BYTES = 24;
/** What the owner puts over everything once nobody else may reach it. */
const OVER = 0xee;
/** What a program puts over memory that it has back. */
const SPENT = 0xdd;

/** What may become of an access beside that it is done. */
const ENDINGS: readonly XioStatus[] = [
  XioStatus.XIO_E_SUCCESS,
  XioStatus.XIO_E_SESSION_ABORTED,
  XioStatus.XIO_E_SESSION_CLOSED,
  XioStatus.XIO_E_SESSION_DISCONNECTED,
  XioStatus.XIO_E_SESSION_REDIRECTED,
  XioStatus.XIO_E_SESSION_REFUSED,
  XioStatus.XIO_E_SESSION_REJECTED,
  XioStatus.XIO_E_TIMEOUT,
  // The status of a rejection.
  XioStatus.XIO_E_NO_BUFS,
  // Nobody has answered SESSION.
  XioStatus.XIO_E_TIMEOUT,
];

/** What the cell of a write holds, or what lies at a byte that is read. */
function mark(cell: number, at: number): number {
  return 1 + ((cell * 37 + at * 5) % 200);
}

interface Entry {
  readonly cell: number;
  outcome: 'under way' | 'done' | 'failed' | 'not begun';
}

/** Memory of a program that it grants, with what may be in it. */
export class Vault {
  readonly bytes: Uint8Array;
  readonly #writes: Entry[] = [];
  isRevoked = false;
  /** As it was when nobody else could reach it any more. */
  #kept: Uint8Array | undefined;

  /** @param cells of the first half, which is read, and of the second, which is written */
  constructor(readonly cells: number) {
    this.bytes = new Uint8Array(2 * cells * CELL_BYTES);
    for (let at = 0; at < cells * CELL_BYTES; at += 1) this.bytes[at] = mark(0, at);
  }

  revoked(): void {
    if (this.isRevoked) return;
    this.isRevoked = true;
    // What has resolved before is there.
    this.#look();
    this.bytes.fill(OVER);
    this.#kept = this.bytes.slice();
  }

  /** A cell that no other write has; undefined when there is none. */
  newWrite(): Write | undefined {
    const cell = this.#writes.length;
    if (cell >= this.cells) return undefined;
    const entry: Entry = { cell, outcome: 'under way' };
    this.#writes.push(entry);
    const offset = (this.cells + cell) * CELL_BYTES;
    const bytes = Uint8Array.from({ length: CELL_BYTES }, (_, at) => mark(cell, at));
    return new Write(this, offset, bytes, (outcome) => (entry.outcome = outcome));
  }

  /** Bytes of the half that is read. */
  checkRead(offset: number, bytes: Uint8Array): void {
    check(
      bytes.every((byte, i) => byte === mark(0, offset + i)),
      () => `what was read at ${offset} was never there, or was when nobody might read it`,
    );
  }

  /** Nothing happens any more. */
  close(): void {
    const kept = this.#kept;
    if (kept === undefined) this.#look();
    else
      check(
        this.bytes.every((byte, i) => byte === kept[i]),
        () => 'memory was written after it was revoked',
      );
  }

  #look(): void {
    for (const { cell, outcome } of this.#writes) {
      const begin = (this.cells + cell) * CELL_BYTES;
      for (let at = 0; at < CELL_BYTES; at += 1) {
        const byte = this.bytes[begin + at];
        const isThere = byte === mark(cell, at);
        check(isThere || byte === 0, () => `there is ${byte} where nobody wrote that`);
        check(isThere || outcome !== 'done', () => 'a write is done, and is not there');
        check(
          !isThere || outcome !== 'not begun',
          () => 'a write was done whose program was told that it never will be',
        );
      }
    }
  }
}

export class Write {
  constructor(
    readonly vault: Vault,
    readonly offset: number,
    readonly bytes: Uint8Array,
    private readonly settle: (outcome: 'done' | 'failed' | 'not begun') => void,
  ) {}

  /** It has resolved: where the owner has taken it back before, it was there then. */
  done(): void {
    this.settle('done');
    this.bytes.fill(SPENT);
  }

  failed(mayHaveRun: boolean): void {
    this.settle(mayHaveRun ? 'failed' : 'not begun');
    this.bytes.fill(SPENT);
  }
}

/** Looks whether an access can have failed so. */
export function checkStatus(
  status: XioStatus,
  vault: Vault,
  isOwnerThere: boolean,
  { mayLeave, hasMoved }: Pick<Ledger, 'mayLeave' | 'hasMoved'>,
): void {
  if (ENDINGS.includes(status)) return;
  // A server that has sent the session on may be done with it before what is under way has come.
  if (hasMoved && (status === XioStatus.XIO_E_READ_FAILED || status === XioStatus.XIO_E_WRITE_FAILED)) return;
  // Another server may take shorter bodies.
  if (status === XioStatus.XIO_E_PEER_RESTARTED || status === XioStatus.XIO_E_MSG_SIZE)
    check(mayLeave, () => 'an access fails by a server that is new, and none is');
  else {
    check(status === XioStatus.XIO_E_USER_OBJ_NOT_FOUND, () => `an access fails with status ${status}`);
    check(vault.isRevoked || !isOwnerThere || mayLeave, () => 'memory is not found that is granted');
  }
}
