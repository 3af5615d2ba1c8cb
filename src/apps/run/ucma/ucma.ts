import type { RecordPair } from '../../../machine/system/index.js';
import type { Context } from '../../../api/verbs/index.js';
import { IdentifierTable } from './identifier-table.js';
import { UcmaFile, type UcmaFileParts } from './ucma-file.js';

/** The connection manager as programs have it: every open file of `/dev/infiniband/rdma_cm` has its devices in common. */
export class Ucma {
  readonly #identifiers = new IdentifierTable();

  /** Of closed files in which threads may still block: they do so until the last of them has gone, as in the kernel. */
  #closed: RecordPair[] = [];

  constructor(private readonly contexts: readonly Context[]) {}

  open(parts: UcmaFileParts): UcmaFile {
    this.#closeUnused();
    return new UcmaFile(this.#identifiers, this.contexts, parts);
  }

  /** Closes the socket of a file once no thread of the program blocks there. */
  closeLater(pair: RecordPair): void {
    pair.releaseFar();
    this.#closed.push(pair);
    this.#closeUnused();
  }

  #closeUnused(): void {
    const unused = this.#closed.filter((pair) => pair.isFarClosed);
    for (const pair of unused) pair.close();
    this.#closed = this.#closed.filter((pair) => !unused.includes(pair));
  }
}
