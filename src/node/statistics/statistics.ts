import { VerbsError } from '../../api/verbs/index.js';
import { directoryProblem, type PublishedStatistics, readPublished, statisticsDirectory } from './statistics-file.js';

const CALL = 'read_statistics';

/**
 * The counters and the queue pairs of all NICs that processes of this user have open, this one's among them: what Linux's
 * `rdma statistic` and `rdma resource show qp` show. A NIC writes them down some four times a second while packets pass, so
 * they may be so old. Simulated devices are not among them, nor those of processes that run with VERBENA_STATS=off.
 *
 * @throws VerbsError EACCES when the directory that holds them belongs to somebody else
 */
export function readStatistics(): readonly PublishedStatistics[] {
  const directory = statisticsDirectory();
  const message = directoryProblem(directory);
  if (message !== undefined)
    throw new VerbsError(CALL, { errno: 'EACCES', message, advice: 'Remove it, or set XDG_RUNTIME_DIR' });
  return readPublished(directory).sort((a, b) => a.pid - b.pid || a.address.localeCompare(b.address));
}
