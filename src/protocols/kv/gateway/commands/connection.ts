import { ErrorReply, MapReply, OK, PONG, type Protocol, type Reply, RESET } from '../resp/reply.js';
import type { Request } from '../resp/request-reader.js';
import { integerOf, shown, SYNTAX_ERROR, textOf, wordOf } from './arguments.js';
import { type Caller, CommandError, type Commands, NO_KEYS } from './command.js';
import { PRODUCT } from './server.js';

const NO_PASSWORD = new ErrorReply(
  'ERR AUTH <password> called without any password configured for the default user. Are you sure your configuration is correct?',
);
const NO_VERSION = new ErrorReply('ERR Protocol version is not an integer or out of range');
const NO_DATABASE = new ErrorReply('ERR DB index is out of range');
const NO_PROTOCOL = new ErrorReply('NOPROTO unsupported protocol version');
const NO_NAME = new ErrorReply('ERR Client names cannot contain spaces, newlines or special characters.');
const NO_USER = new ErrorReply('WRONGPASS invalid username-password pair or user is disabled.');
const MAX_NAME_BYTES = 256;

function refuse(reply: ErrorReply): never {
  throw new CommandError(reply);
}

function nameOf(bytes: Uint8Array): string {
  const name = textOf(bytes);
  return /^[!-~]*$/.test(name) && bytes.length <= MAX_NAME_BYTES ? name : refuse(NO_NAME);
}

function protocolOf(version: Uint8Array): Protocol {
  const text = textOf(version.subarray(0, 21));
  if (!/^(?:0|-?[1-9]\d{0,18})$/.test(text)) refuse(NO_VERSION);
  return text === '2' ? 2 : text === '3' ? 3 : refuse(NO_PROTOCOL);
}

function hello([, version, ...options]: Request, caller: Caller): Reply {
  const isGiven = (version as Uint8Array | undefined) !== undefined;
  const protocol = isGiven ? protocolOf(version) : caller.protocol;
  let clientName: string | undefined;
  for (let at = 0; at < options.length; at += 1) {
    const word = wordOf(options[at]);
    const left = options.length - at - 1;
    if (word === 'AUTH' && left >= 2) refuse(NO_USER);
    else if (word === 'SETNAME' && left >= 1) clientName = nameOf(options[(at += 1)]);
    else refuse(new ErrorReply(`ERR Syntax error in HELLO option '${shown(options[at])}'`));
  }
  if (clientName !== undefined) caller.name = clientName;
  caller.protocol = protocol;
  const { name, imitated } = PRODUCT;
  return new MapReply([
    ['server', name],
    ['version', imitated],
    ['proto', protocol],
    ['id', caller.id],
    ['mode', 'standalone'],
    ['role', 'master'],
    ['modules', []],
  ]);
}

function reset(_: Request, caller: Caller): Reply {
  caller.name = '';
  caller.protocol = 2;
  return RESET;
}

/** There are no users: a client that believes itself authenticated would be wrong. */
function auth({ length }: Request): Reply {
  if (length > 3) refuse(SYNTAX_ERROR);
  return refuse(length === 2 ? NO_PASSWORD : NO_USER);
}

type Subcommand = (request: Request, caller: Caller) => Reply;

const CLIENT: Readonly<Record<string, { readonly count: number; readonly run: Subcommand } | undefined>> = {
  ID: { count: 2, run: (_, { id }) => id },
  GETNAME: { count: 2, run: (_, { name }) => (name === '' ? undefined : name) },
  SETNAME: {
    count: 3,
    run: ([, , name], caller) => {
      caller.name = nameOf(name);
      return OK;
    },
  },
  // A library tells its name and version, which nobody asks for here.
  SETINFO: { count: 4, run: () => OK },
};

function client(request: Request, caller: Caller): Reply {
  const subcommand = CLIENT[wordOf(request[1])];
  if (subcommand?.count === request.length) return subcommand.run(request, caller);
  return refuse(new ErrorReply(`ERR unknown subcommand or wrong number of arguments for '${shown(request[1])}'`));
}

export const CONNECTION: Commands = [
  {
    name: 'ping',
    arity: -1,
    flags: ['fast'],
    keys: NO_KEYS,
    run: ({ length, 1: message }) => {
      if (length > 2) refuse(new ErrorReply("ERR wrong number of arguments for 'ping' command"));
      return length === 2 ? message : PONG;
    },
  },
  { name: 'echo', arity: 2, flags: ['fast'], keys: NO_KEYS, run: ([, message]) => message },
  {
    name: 'select',
    arity: 2,
    flags: ['loading', 'stale', 'fast'],
    keys: NO_KEYS,
    run: ([, index]) => (integerOf(index) === 0n ? OK : refuse(NO_DATABASE)),
  },
  { name: 'auth', arity: -2, flags: ['loading', 'stale', 'fast'], keys: NO_KEYS, run: auth },
  { name: 'hello', arity: -1, flags: ['loading', 'stale', 'fast'], keys: NO_KEYS, run: hello },
  { name: 'reset', arity: 1, flags: ['noscript', 'loading', 'stale', 'fast'], keys: NO_KEYS, run: reset },
  { name: 'client', arity: -2, flags: ['loading', 'stale'], keys: NO_KEYS, run: client },
  {
    name: 'quit',
    arity: -1,
    flags: ['loading', 'stale', 'fast'],
    keys: NO_KEYS,
    run: (_, caller) => {
      caller.quit();
      return OK;
    },
  },
];
