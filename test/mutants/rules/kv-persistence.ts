import type { Mutant } from '../mutant.js';

/** Rules of the key-value store's log and snapshots. */
const FORMAT = 'docs/protocol.md 6.8';
const SESSIONS = 'docs/protocol.md 6.5';
const ROOM = 'src/layers/kv/persistence';
const PERSISTENCE = `${ROOM}/persistence.ts`;
const RECOVERY = `${ROOM}/recovery.ts`;
const FILES = `${ROOM}/files.ts`;
const MACHINE = 'src/layers/kv/protocol/server-machine.ts';

export const kvPersistence: readonly Mutant[] = [
  {
    name: 'kv-answer-before-kept',
    rule: 'a change is answered once it is kept',
    source: SESSIONS,
    file: MACHINE,
    from: 'if (this.journal?.hasChanges !== true) {',
    to: 'if (this.journal !== undefined) {',
    games: ['kv'],
  },
  {
    name: 'kv-repeat-of-what-is-held',
    rule: 'the repeat of a change that is not kept yet is not answered',
    source: SESSIONS,
    file: MACHINE,
    from: 'return this.#isHeld(slots, slot) ? undefined : before;',
    to: 'return before;',
    games: ['kv'],
  },
  {
    name: 'kv-failure-not-remembered',
    rule: 'the repeat of a change that could not be kept is answered with that',
    source: SESSIONS,
    file: MACHINE,
    from: 'if (slots.arrival(slot, sequence) === Arrival.REPEAT) slots.served(slot, sequence, answer);',
    to: '',
    games: ['kv'],
  },
  {
    name: 'kv-always-later',
    rule: 'under always the disk is waited for before a change is answered',
    source: 'docs/kv.md',
    file: PERSISTENCE,
    from: "if (sync === 'always') this.#sync();",
    to: "if (sync === 'always') return;",
    games: ['kv'],
  },
  {
    name: 'kv-failed-change-stays',
    rule: 'what could not be kept is taken back',
    source: SESSIONS,
    file: PERSISTENCE,
    from: 'const isAsBefore = this.#undo.takeBack(this.store);',
    to: 'const isAsBefore = true;',
    games: ['kv'],
  },
  {
    name: 'kv-full-log-not-cut',
    rule: 'a log has nothing of what was refused',
    source: SESSIONS,
    file: PERSISTENCE,
    from: 'const isCutBack = this.#tryCutBack(before);',
    to: 'const isCutBack = before > 0;',
    games: ['kv'],
  },
  {
    name: 'kv-snapshot-before-log',
    rule: 'the log is on the disk before the snapshot that has what it has',
    source: FORMAT,
    file: PERSISTENCE,
    from: 'if (this.#isBehind() && !this.#trySync()) return;\n      snapshot.finish();',
    to: 'snapshot.finish();',
    games: ['kv'],
  },
  {
    name: 'kv-file-named-too-early',
    rule: 'a file has its name once all of it is on the disk',
    source: FORMAT,
    file: FILES,
    from: '  file.sync();\n',
    to: '',
    games: ['kv'],
  },
  {
    name: 'kv-name-not-kept',
    rule: 'the name of a log is on the disk before anything in it is answered',
    source: FORMAT,
    file: FILES,
    from: '  folder.sync();\n',
    to: '',
    games: ['kv'],
  },
  {
    name: 'kv-damage-cut-off',
    rule: 'a record that was on the disk, and is not there, is damage',
    source: FORMAT,
    file: RECOVERY,
    from: 'reader.keptBehind(this.#sequence) < this.#sequence',
    to: 'reader.keptBehind(this.#sequence) <= Infinity',
    games: ['kv'],
  },
  {
    name: 'kv-repair-loses-all',
    rule: 'what is before damage is read, also where that is the beginning of a log',
    source: 'docs/kv.md',
    file: RECOVERY,
    from: 'for (const [i, log] of logs.entries()) {',
    to: 'for (const [i, log] of this.#isRepaired ? [] : logs.entries()) {',
    games: ['kv'],
  },
  {
    name: 'kv-check-not-checked',
    rule: 'a record whose check does not fit is none',
    source: FORMAT,
    file: `${ROOM}/record.ts`,
    from: '!== view.getInt32(0, true)) return false;',
    to: '!== view.getInt32(0, true) && length < 0) return false;',
    games: ['kv'],
  },
  {
    name: 'kv-lost-version-again',
    rule: 'a version that was lost is not given again',
    source: FORMAT,
    file: RECOVERY,
    from: 'const beyond = lastVersion + (1n << 32n);',
    to: 'const beyond = lastVersion;',
    games: ['kv'],
  },
  {
    name: 'kv-touch-not-kept',
    rule: 'a new time to live is kept',
    source: FORMAT,
    file: `${ROOM}/survivors.ts`,
    from: 'if (survivor !== undefined) survivor.expiresAtMs = expiresAtMs;',
    to: '',
    games: ['kv'],
  },
];
