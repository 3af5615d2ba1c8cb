import { randomBytes } from 'node:crypto';
import {
  accessSync,
  closeSync,
  constants,
  fchmodSync,
  openSync,
  realpathSync,
  renameSync,
  rmSync,
  statSync,
  writeSync,
} from 'node:fs';
import { dirname, join } from 'node:path';
import { fileFailure } from './errors.js';

const PERMISSIONS = 0o7777;

/** Where the bytes go until they have their name; without a `draft` straight to what has it already. */
interface Places {
  readonly fd: number;
  readonly target: string;
  readonly draft: string | undefined;
}

/**
 * A file under construction: it has its name once it is whole, and until then what had that name stays as it is. What
 * ends before by a failure, or by `process.exit`, leaves nothing behind. A device or a pipe is written to as it is.
 *
 * Its methods throw a ToolError when the file cannot be written.
 */
export class NewFile {
  readonly #name: string;
  readonly #places: Places;
  readonly #onExit = (): void => this.discard();
  #isOpen = true;
  #isSettled = false;

  constructor(name: string) {
    this.#name = name;
    this.#places = this.#attempt(() => open(name));
    process.once('exit', this.#onExit);
  }

  write(bytes: Uint8Array): void {
    const { fd } = this.#places;
    this.#attempt(() => {
      // A write may take less than all.
      for (let done = 0; done < bytes.length;) done += writeSync(fd, bytes, done, bytes.length - done);
    });
  }

  /** It is whole: gives it its name. */
  keep(): void {
    const { target, draft } = this.#places;
    this.#attempt(() => {
      this.#close();
      if (draft !== undefined) renameSync(draft, target);
    });
    this.#settle();
  }

  /** It will never be whole: removes what there is of it. Nothing happens to one that was kept. */
  discard(): void {
    if (this.#isSettled) return;
    const { draft } = this.#places;
    this.#settle();
    this.#close();
    if (draft !== undefined) rmSync(draft, { force: true });
  }

  #close(): void {
    if (!this.#isOpen) return;
    this.#isOpen = false;
    closeSync(this.#places.fd);
  }

  #settle(): void {
    this.#isSettled = true;
    process.off('exit', this.#onExit);
  }

  #attempt<Result>(step: () => Result): Result {
    try {
      return step();
    } catch (error) {
      throw fileFailure(this.#name, 'written', error);
    }
  }
}

/** Writes a whole file, or leaves what was there. @throws ToolError when it cannot be written */
export function writeWhole(name: string, text: string): void {
  const file = new NewFile(name);
  try {
    file.write(Buffer.from(text));
    file.keep();
  } finally {
    file.discard();
  }
}

/** @throws ToolError when a file cannot be written; to be called before the work whose results it takes */
export function checkWritable(name: string): void {
  new NewFile(name).discard();
}

function open(name: string): Places {
  const there = statSync(name, { throwIfNoEntry: false });
  if (there?.isFile() === false) return { fd: openSync(name, 'w'), target: name, draft: undefined };
  // A link stays one: what it leads to is replaced.
  const target = there === undefined ? name : realpathSync(name);
  if (there !== undefined) accessSync(target, constants.W_OK);
  const draft = join(dirname(target), `.verbena-${randomBytes(6).toString('hex')}.part`);
  const fd = openSync(draft, 'wx');
  if (there !== undefined) fchmodSync(fd, there.mode & PERMISSIONS);
  return { fd, target, draft };
}
