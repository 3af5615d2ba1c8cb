import type { Context } from '../../../api/verbs/index.js';
import { IdentifierTable } from './identifier-table.js';
import { UcmaFile, type UcmaFileParts } from './ucma-file.js';

/** The connection manager as programs have it: every open file of `/dev/infiniband/rdma_cm` has its devices in common. */
export class Ucma {
  readonly #identifiers = new IdentifierTable();

  constructor(private readonly contexts: readonly Context[]) {}

  open(parts: UcmaFileParts): UcmaFile {
    return new UcmaFile(this.#identifiers, this.contexts, parts);
  }
}
