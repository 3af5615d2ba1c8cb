// One at a time: two shells that build the same files would read each other's halves.
import { mkdirSync, readFileSync, rmSync, statSync, writeFileSync } from 'node:fs';
import { dirname } from 'node:path';

const LOOK_AGAIN_MS = 100;
/** Longer than any build takes. */
const PATIENCE_MS = 10 * 60_000;
/** Between the moment a file is there and the moment its owner's number is in it. */
const CREATION_MS = 1000;

function isAlive(pid) {
  try {
    process.kill(pid, 0);
    return true;
  } catch (error) {
    return error.code === 'EPERM';
  }
}

/** Whether the owner was killed before it could give the lock back. */
function isAbandoned(path) {
  try {
    const pid = Number(readFileSync(path, 'utf8'));
    return pid > 0 ? !isAlive(pid) : Date.now() - statSync(path).mtimeMs > CREATION_MS;
  } catch {
    // Given back since.
    return false;
  }
}

/**
 * Waits until nobody else has the lock, and has it until the process ends.
 *
 * @param {string} path a file that is there while somebody has it
 */
export function lock(path) {
  mkdirSync(dirname(path), { recursive: true });
  const pause = new Int32Array(new SharedArrayBuffer(4));
  for (let waitedMs = 0; waitedMs < PATIENCE_MS; waitedMs += LOOK_AGAIN_MS) {
    try {
      writeFileSync(path, `${process.pid}`, { flag: 'wx' });
      process.once('exit', () => rmSync(path, { force: true }));
      return;
    } catch (error) {
      if (error.code !== 'EEXIST') throw error;
    }
    if (isAbandoned(path)) rmSync(path, { force: true });
    else Atomics.wait(pause, 0, 0, LOOK_AGAIN_MS);
  }
  throw new Error(`somebody has been building for ${PATIENCE_MS / 60_000} minutes; if nobody is, remove ${path}`);
}
