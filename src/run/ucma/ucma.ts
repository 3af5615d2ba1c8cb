import type { RecordPair } from '../../node/system/index.js';
import type { Context } from '../../api/verbs/index.js';
import { pumpEvents } from '../../api/rdmacm/index.js';
import { IdentifierTable } from './identifier-table.js';
import { UcmaFile, type UcmaFileParts } from './ucma-file.js';

const MOST_SENTENCES = 16;

/** The connection manager as programs have it: every open file of `/dev/infiniband/rdma_cm` has its devices in common. */
export class Ucma {
  readonly #identifiers = new IdentifierTable();
  readonly #said = new Set<string>();

  /** Of closed files in which threads may still block: they do so until the last of them has gone, as in the kernel. */
  #closed: RecordPair[] = [];

  /** @param say tells the user why a call of the program fails that the program only knows an errno of */
  constructor(
    private readonly contexts: readonly Context[],
    private readonly say: (text: string) => void = () => undefined,
  ) {}

  open(parts: UcmaFileParts): UcmaFile {
    this.#closeUnused();
    return new UcmaFile(this.#identifiers, this.contexts, parts, (text) => this.#explain(text));
  }

  /** Takes the news of the devices: the files that they are for are told. @returns whether there was any */
  pump(): boolean {
    return pumpEvents(this.contexts);
  }

  /** Says each sentence once, and not too many. */
  #explain(text: string): void {
    if (this.#said.size >= MOST_SENTENCES || this.#said.has(text)) return;
    this.#said.add(text);
    this.say(text);
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
