import { ErrorReply, type Reply, SimpleReply } from '../resp/reply.js';
import { MAX_KEY_BYTES } from '../../store/index.js';
import type { Request } from '../resp/request-reader.js';
import { countOf, SYNTAX_ERROR, textOf, wordOf } from './arguments.js';
import { ALL_KEYS, type Caller, CommandError, type Commands, NO_KEYS, ONE_KEY } from './command.js';
import { isGlobMatch } from './glob.js';
import { countTrue } from './strings.js';

const STRING = new SimpleReply('string');
const NONE = new SimpleReply('none');
const BAD_CURSOR = new ErrorReply('ERR invalid cursor');
/** What SCAN answers unless it is told otherwise, and at most. */
const SCAN_COUNT = 10;
const MAX_SCAN_COUNT = 10_000;
/** It is tried for each key. */
const MAX_PATTERN_BYTES = 1024;
const MAX_CURSOR = 2n ** 64n - 1n;
/** What begins a pattern's part that may be several texts. */
const SPECIAL = /[*?[\\]/;

const deleteAll = ([, ...keys]: Request, { store }: Caller): Promise<Reply> =>
  countTrue(keys, (key) => store.delete(key));
const countAll = ([, ...keys]: Request, { store }: Caller): Promise<Reply> => countTrue(keys, (key) => store.has(key));

/** What SCAN was told besides the cursor. */
interface ScanTerms {
  readonly glob: string | undefined;
  readonly count: number;
  /** Whether keys of that type are wanted: all are strings. */
  readonly isOurType: boolean;
}

function scanTermsOf(options: Request): ScanTerms {
  let terms: ScanTerms = { glob: undefined, count: SCAN_COUNT, isOurType: true };
  if (options.length % 2 !== 0) throw new CommandError(SYNTAX_ERROR);
  for (let at = 0; at < options.length; at += 2) {
    const [option, value] = [wordOf(options[at]), options[at + 1]];
    if (option === 'MATCH' && value.length <= MAX_PATTERN_BYTES) terms = { ...terms, glob: textOf(value) };
    else if (option === 'COUNT')
      terms = { ...terms, count: Math.min(MAX_SCAN_COUNT, countOf(value, 1, Number.MAX_SAFE_INTEGER)) };
    else if (option === 'TYPE') terms = { ...terms, isOurType: wordOf(value) === 'STRING' };
    else throw new CommandError(SYNTAX_ERROR);
  }
  return terms;
}

function cursorOf(bytes: Uint8Array): bigint {
  const text = textOf(bytes.subarray(0, 21));
  const cursor = /^\d{1,20}$/.test(text) ? BigInt(text) : -1n;
  if (cursor < 0n || cursor > MAX_CURSOR) throw new CommandError(BAD_CURSOR);
  return cursor;
}

/** Keys that a pattern means begin with what stands before its first sign: the store looks for those. */
function prefixOf(glob: string): Uint8Array {
  const special = glob.search(SPECIAL);
  return Uint8Array.from(special < 0 ? glob : glob.slice(0, special), (letter) => letter.charCodeAt(0));
}

/** The longest prefix that the store looks for is as long as a key; nothing begins with a longer one. */
async function scan({ store, cursors }: Caller, cursor: bigint, { glob, count, isOurType }: ScanTerms): Promise<Reply> {
  const prefix = prefixOf(glob ?? '');
  if (prefix.length > MAX_KEY_BYTES) return ['0', []];
  const { cursor: next, keys } = await store.scanPage(cursors.taken(cursor), { prefix, count });
  const isMeant = (key: Uint8Array): boolean => isOurType && (glob === undefined || isGlobMatch(glob, textOf(key)));
  return [String(cursors.given(next)), keys.filter(isMeant)];
}

export const KEYS: Commands = [
  { name: 'del', arity: -2, flags: ['write'], keys: ALL_KEYS, run: deleteAll },
  { name: 'unlink', arity: -2, flags: ['write', 'fast'], keys: ALL_KEYS, run: deleteAll },
  { name: 'exists', arity: -2, flags: ['readonly', 'fast'], keys: ALL_KEYS, run: countAll },
  { name: 'touch', arity: -2, flags: ['readonly', 'fast'], keys: ALL_KEYS, run: countAll },
  {
    name: 'type',
    arity: 2,
    flags: ['readonly', 'fast'],
    keys: ONE_KEY,
    run: async ([, key], { store }) => ((await store.has(key)) ? STRING : NONE),
  },
  {
    name: 'scan',
    arity: -2,
    flags: ['readonly'],
    keys: NO_KEYS,
    run: ([, cursor, ...options], caller) => scan(caller, cursorOf(cursor), scanTermsOf(options)),
  },
  {
    name: 'dbsize',
    arity: 1,
    flags: ['readonly', 'fast'],
    keys: NO_KEYS,
    run: async (_, { store }) => (await store.serverStatistics()).get('store.keys') ?? 0,
  },
];
