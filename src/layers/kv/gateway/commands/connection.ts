import { ErrorReply, OK, PONG, type Reply } from '../resp/reply.js';
import type { Request } from '../resp/request-reader.js';
import { integerOf, shown, SYNTAX_ERROR, textOf, wordOf } from './arguments.js';
import { type Caller, CommandError, type Commands, NO_KEYS } from './command.js';
import { PRODUCT, PROTOCOL_VERSION } from './product.js';

const NO_PASSWORD = new ErrorReply('ERR AUTH called without any password configured: this gateway knows no users');
const NO_DATABASE = new ErrorReply('ERR DB index is out of range');
const NO_PROTOCOL = new ErrorReply('NOPROTO unsupported protocol version');
const NO_NAME = new ErrorReply('ERR Client names cannot contain spaces, newlines or special characters.');
const MAX_NAME_BYTES = 256;

function refuse(reply: ErrorReply): never {
  throw new CommandError(reply);
}

function nameOf(bytes: Uint8Array): string {
  const name = textOf(bytes);
  return /^[!-~]*$/.test(name) && bytes.length <= MAX_NAME_BYTES ? name : refuse(NO_NAME);
}

/** Everybody begins with RESP2, and stays there. */
function hello([, version, ...options]: Request, caller: Caller): Reply {
  if ((version as Uint8Array | undefined) !== undefined && integerOf(version) !== BigInt(PROTOCOL_VERSION))
    refuse(NO_PROTOCOL);
  for (let at = 0; at < options.length; at += 2) {
    const word = wordOf(options[at]);
    if (word === 'AUTH') refuse(NO_PASSWORD);
    if (word !== 'SETNAME' || at + 1 === options.length) refuse(SYNTAX_ERROR);
    caller.name = nameOf(options[at + 1]);
  }
  const { name, imitated } = PRODUCT;
  const facts = { server: name, version: imitated, proto: PROTOCOL_VERSION, id: caller.id, mode: 'standalone' };
  return [...Object.entries(facts).flat(), 'role', 'master', 'modules', []];
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

/** Commands about the connection. */
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
  { name: 'auth', arity: -2, flags: ['loading', 'stale', 'fast'], keys: NO_KEYS, run: () => refuse(NO_PASSWORD) },
  { name: 'hello', arity: -1, flags: ['loading', 'stale', 'fast'], keys: NO_KEYS, run: hello },
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
