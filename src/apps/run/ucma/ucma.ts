import { IdentifierTable } from './identifier-table.js';
import { type UcmaDevices, UcmaFile, type UcmaFileParts } from './ucma-file.js';

/** The connection manager as programs have it: every open file of `/dev/infiniband/rdma_cm` has its devices in common. */
export class Ucma {
  readonly #identifiers = new IdentifierTable();

  constructor(private readonly devices: UcmaDevices) {}

  open(parts: UcmaFileParts): UcmaFile {
    return new UcmaFile(this.#identifiers, this.devices, parts);
  }
}
