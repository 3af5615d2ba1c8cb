import { readFileSync } from 'node:fs';
import { adoptOrphans, orphans, reapOrphans } from '../../../machine/system/index.js';

/** What ends sooner than that is not spoken of. */
const SPEAK_AFTER_MS = 1000;

function nameOf(pid: number): string {
  try {
    return `${readFileSync(`/proc/${pid}/comm`, 'latin1').trim()} (${pid})`;
  } catch {
    return String(pid);
  }
}

/**
 * What the program has started and not waited for. It is served for as long as it lives, and ends when the user ends us: a shell without
 * a terminal starts what is to run in the background deaf to Ctrl-C.
 */
export class LeftBehind {
  #asked = false;

  constructor() {
    if (adoptOrphans()) process.on('SIGCHLD', reapOrphans);
  }

  /** Says what is being waited for, unless that is soon over. @returns the timer, to be cleared then */
  speakOf(say: (sentence: string) => void): NodeJS.Timeout {
    return setTimeout(() => {
      const names = orphans().map(nameOf).join(', ');
      if (names !== '') say(`the program has ended; what it has started goes on, and is served: ${names}`);
    }, SPEAK_AFTER_MS);
  }

  /** Asks it to end; whoever is told again has no choice. */
  end(): void {
    const signal = this.#asked ? 'SIGKILL' : 'SIGTERM';
    this.#asked = true;
    for (const pid of orphans()) {
      try {
        process.kill(pid, signal);
      } catch {
        // It has just ended, or may not be told by us.
      }
    }
  }
}
