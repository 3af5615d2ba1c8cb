import { type Folder, runtime } from '../../../api/runtime/index.js';
import { VerbsError } from '../../../api/verbs/index.js';
import type { Partition } from '../store/index.js';
import type { PersistenceSettings } from './options.js';
import { Persistence } from './persistence.js';
import { systemError } from './recovery.js';

/**
 * Opens a folder of files for this program alone, and puts what it keeps into a store.
 *
 * @throws VerbsError EBUSY while another program has it open, EIO for damage, ENOSPC where there is no room; what the system says
 */
export function persist(store: Partition, directory: string, settings: PersistenceSettings): Persistence {
  return persistIn(() => runtime().openFolder(directory), directory, store, settings);
}

/** The same in a folder of whatever kind. */
export function persistIn(
  open: () => Folder,
  path: string,
  store: Partition,
  settings: PersistenceSettings,
): Persistence {
  let folder: Folder | undefined;
  try {
    folder = open();
    return new Persistence(folder, store, settings);
  } catch (error) {
    folder?.close();
    throw error instanceof VerbsError ? error : systemError(path, error);
  }
}
