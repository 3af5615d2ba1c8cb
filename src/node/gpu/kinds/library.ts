import { createRequire } from 'node:module';
import type koffi from 'koffi';
import { nativeHostProblem } from '../../system/index.js';

export type Library = ReturnType<typeof koffi.load>;

/** Why a library cannot be used here. */
export class LibraryProblem extends Error {
  override readonly name = 'LibraryProblem';
}

/**
 * Opens a shared library by its name, as the dynamic linker finds it.
 *
 * @param what names it in the error
 * @param remedy what to install for it
 * @throws LibraryProblem when there is none
 */
export function openLibrary(name: string, what: string, remedy: string): Library {
  const problem = nativeHostProblem();
  if (problem !== undefined) throw new LibraryProblem(`${what} needs native calls: ${problem}`);
  try {
    // As node/system loads it.
    const native = createRequire(import.meta.url)('koffi') as typeof koffi;
    return native.load(name);
  } catch (error) {
    const [why] = (error instanceof Error ? error.message : String(error)).split('\n', 1);
    throw new LibraryProblem(`${what} cannot be used: ${name} does not load (${why.replace(/\.$/, '')}); ${remedy}`, {
      cause: error,
    });
  }
}
