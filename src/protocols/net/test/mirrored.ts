/**
 * Node's own tests of `net` (test/parallel/test-net-*.js), by what comes after `test-net-`: which tests of ours show the same behaviour, in words of our own.
 */
export interface Mirrored {
  /** Its name among Node's. */
  readonly node: string;
  /** The file of ours, without `.test.ts`, and the name of the test in it. */
  readonly file: string;
  readonly test: string;
}

const mirrored = (node: string, file: string, test: string): Mirrored => ({ node, file, test });

/** Behaves the same. */
export const MIRRORED: readonly Mirrored[] = [
  mirrored('after-close', 'ending', 'leaves an object that can be asked and told anything'),
  mirrored('allow-half-open', 'ending', 'goes on writing after its peer has ended when it is half open'),
  mirrored(
    'better-error-messages-listen',
    'servers',
    'says EADDRINUSE when another listens there, and can try elsewhere',
  ),
  mirrored(
    'better-error-messages-port-hostname',
    'connecting',
    "says by 'lookup' and 'error' that there is no such name",
  ),
  mirrored('binary', 'writing', 'carries every byte value, text of every encoding and chunks of no length'),
  mirrored('bind-twice', 'servers', 'says EADDRINUSE when another listens there, and can try elsewhere'),
  mirrored('buffersize', 'writing', 'asks for patience when the peer does not read, and tells by drain when it has'),
  mirrored('bytes-read', 'reading', 'counts what has come, also when nobody takes it'),
  mirrored('bytes-stats', 'writing', 'keeps what is written before it is connected, and counts it'),
  mirrored('bytes-written-large', 'writing', 'brings a large buffer and a large string whole, and counts both'),
  mirrored('can-reset-timeout', 'timeouts', 'can be set anew in its own callback'),
  mirrored(
    'connect-abort-controller',
    'connecting',
    'fails with AbortError when its signal is aborted: before, while and after it connects',
  ),
  mirrored('connect-after-destroy', 'connecting', 'connects again after it has closed, as often as it is told to'),
  mirrored('connect-buffer', 'writing', 'keeps what is written before it is connected, and counts it'),
  mirrored('connect-buffer2', 'writing', 'keeps the order of what was written before, in and after the connection'),
  mirrored('connect-call-socket-connect', 'connecting', 'calls back when it is connected, however it is called'),
  mirrored('connect-destroy', 'connecting', 'closes without connecting when it is destroyed at once'),
  mirrored('connect-immediate-destroy', 'connecting', 'closes without connecting when it is destroyed at once'),
  mirrored('connect-immediate-finish', 'connecting', 'ends well when it is ended before it is connected'),
  mirrored('connect-keepalive', 'timeouts', 'is kept until there is one'),
  mirrored(
    'connect-nodelay',
    'timeouts',
    'has calls that change nothing return the socket, before and after it is connected',
  ),
  mirrored('connect-no-arg', 'connecting', 'refuses at once what is no port, no lookup, no address'),
  mirrored('connect-options-allowhalfopen', 'ending', 'of a client goes on as well when it is half open'),
  mirrored('connect-options-invalid', 'connecting', 'refuses at once what is no port, no lookup, no address'),
  mirrored(
    'connect-options-port',
    'connecting',
    'takes a port, a port and a host, and options, and a port as a string',
  ),
  mirrored('connect-paused-connection', 'connecting', 'pauses and resumes while it connects'),
  mirrored('connect-reset', 'ending', 'says ERR_SOCKET_CLOSED when it is reset without ever having been connected'),
  mirrored('connect-reset-after-destroy', 'ending', 'is reset to no effect when it is destroyed'),
  mirrored('connect-reset-before-connected', 'ending', 'is reset once it is connected when it was told before'),
  mirrored('connect-reset-until-connected', 'ending', 'tells its peer ECONNRESET when it is reset'),
  mirrored('dns-custom-lookup', 'connecting', 'has a function of the program find the address'),
  mirrored('dns-error', 'connecting', "says by 'lookup' and 'error' that there is no such name"),
  mirrored('dns-lookup', 'connecting', "looks a name up, and tells by 'lookup'"),
  mirrored('dns-lookup-skip', 'connecting', 'looks no address up'),
  mirrored('during-close', 'ending', 'is closed by its peer while it closes'),
  mirrored('eaddrinuse', 'servers', 'says EADDRINUSE when another listens there, and can try elsewhere'),
  mirrored('end-close', 'ending', 'ends with its peer, without an error, when neither is half open'),
  mirrored('end-destroyed', 'ending', 'is destroyed once, however often it is told to'),
  mirrored('end-without-connect', 'connecting', 'can be ended and destroyed though it was never connected'),
  mirrored('error-twice', 'ending', 'emits one error, however many there are'),
  mirrored('keepalive', 'timeouts', 'is silence before the peer is asked, in seconds that are rounded up'),
  mirrored('large-string', 'writing', 'brings a large buffer and a large string whole, and counts both'),
  mirrored('listen-close-server', 'servers', 'never listens when it is closed at once, or while a name is looked up'),
  mirrored(
    'listen-close-server-callback-is-not-function',
    'servers',
    'refuses what is no callback of close by ignoring it',
  ),
  mirrored('listen-error', 'servers', 'refuses what says no place to listen'),
  mirrored('listen-invalid-port', 'servers', 'refuses what says no place to listen'),
  mirrored('listen-twice', 'servers', 'refuses to listen while it listens, and listens again when it is closed'),
  mirrored('listening', 'servers', "says where it listens, once 'listening' has come"),
  mirrored(
    'local-address-port',
    'servers',
    'gives sockets that know both addresses, and keep them when they are closed',
  ),
  mirrored(
    'onread-static-buffer',
    'reading',
    'reads into one buffer of the program, or one that is asked for each time',
  ),
  mirrored('options-lookup', 'connecting', 'refuses at once what is no port, no lookup, no address'),
  mirrored('pause-resume-connecting', 'connecting', 'pauses and resumes while it connects'),
  mirrored('persistent-keepalive', 'timeouts', 'is kept until there is one'),
  mirrored(
    'persistent-nodelay',
    'timeouts',
    'has calls that change nothing return the socket, before and after it is connected',
  ),
  mirrored(
    'persistent-ref-unref',
    'timeouts',
    'has calls that change nothing return the socket, before and after it is connected',
  ),
  mirrored('pingpong', 'writing', 'bounces messages, one at a time and several at once'),
  mirrored('reconnect', 'connecting', 'connects again after it has closed, as often as it is told to'),
  mirrored('remote-address', 'servers', 'gives sockets that know both addresses, and keep them when they are closed'),
  mirrored(
    'remote-address-port',
    'servers',
    'gives sockets that know both addresses, and keep them when they are closed',
  ),
  mirrored('server-async-dispose', 'servers', 'is disposed of by closing it, when it listens and when it does not'),
  mirrored(
    'server-call-listen-multiple-times',
    'servers',
    'refuses to listen while it listens, and listens again when it is closed',
  ),
  mirrored(
    'server-capture-rejection',
    'servers',
    'destroys the socket whose listener rejects, with what it rejects with, when rejections are captured',
  ),
  mirrored('server-close', 'servers', 'closes when its last connection has ended'),
  mirrored(
    'server-close-before-calling-lookup-callback',
    'servers',
    'never listens when it is closed at once, or while a name is looked up',
  ),
  mirrored('server-drop-connections', 'servers', "turns away whoever comes beyond maxConnections, and tells by 'drop'"),
  mirrored('server-keepalive', 'timeouts', 'lets a server and its sockets be told to keep quiet about the process'),
  mirrored('server-listen-options', 'servers', 'listens however it is told to'),
  mirrored('server-listen-options-signal', 'servers', 'is closed by a signal, given before or later'),
  mirrored('server-listen-remove-callback', 'servers', 'calls back once, and not again when it listens again'),
  mirrored('server-max-connections', 'servers', "turns away whoever comes beyond maxConnections, and tells by 'drop'"),
  mirrored(
    'server-max-connections-close-makes-more-available',
    'servers',
    "turns away whoever comes beyond maxConnections, and tells by 'drop'",
  ),
  mirrored('server-nodelay', 'timeouts', 'lets a server and its sockets be told to keep quiet about the process'),
  mirrored('server-options', 'servers', 'refuses options that are none'),
  mirrored('server-pause-on-connect', 'servers', 'gives sockets that are paused when it is told to'),
  mirrored('server-reset', 'ending', 'of a server tells its peer ECONNRESET as well'),
  mirrored('server-try-ports', 'servers', 'says EADDRINUSE when another listens there, and can try elsewhere'),
  mirrored('server-unref', 'timeouts', 'lets a server and its sockets be told to keep quiet about the process'),
  mirrored(
    'server-unref-persistent',
    'timeouts',
    'lets a server and its sockets be told to keep quiet about the process',
  ),
  mirrored('settimeout', 'timeouts', "ends in 'timeout' when nothing happens, and the socket lives on"),
  mirrored('socket-byteswritten', 'writing', 'writes what was corked in one go, and in order'),
  mirrored('socket-close-after-end', 'ending', 'waits with the end until all is read'),
  mirrored('socket-connect-without-cb', 'connecting', "emits 'connect', then 'ready', and says in between what it is"),
  mirrored('socket-connecting', 'connecting', "emits 'connect', then 'ready', and says in between what it is"),
  mirrored('socket-destroy-send', 'writing', 'refuses to write when it is destroyed, and tells only those who ask'),
  mirrored('socket-destroy-twice', 'ending', 'is destroyed once, however often it is told to'),
  mirrored('socket-end-before-connect', 'connecting', 'ends well when it is ended before it is connected'),
  mirrored('socket-end-callback', 'writing', 'is written to by end, once it is connected or before'),
  mirrored(
    'socket-local-address',
    'servers',
    'gives sockets that know both addresses, and keep them when they are closed',
  ),
  mirrored('socket-no-halfopen-enforcer', 'ending', 'ends with its peer, without an error, when neither is half open'),
  mirrored('socket-ready-without-cb', 'connecting', "emits 'connect', then 'ready', and says in between what it is"),
  mirrored('socket-reset-send', 'writing', 'refuses to write when it is reset'),
  mirrored('socket-reset-twice', 'ending', 'is reset twice as once'),
  mirrored(
    'socket-setnodelay',
    'timeouts',
    'has calls that change nothing return the socket, before and after it is connected',
  ),
  mirrored('socket-timeout', 'timeouts', 'is a number from 0 on, and a function'),
  mirrored('socket-timeout-unref', 'timeouts', 'may be told to a socket that is not connected'),
  mirrored('socket-write-after-close', 'writing', 'tells a write that nobody ever connected that it is closed'),
  mirrored('socket-write-error', 'writing', 'refuses what is neither bytes nor text'),
  mirrored('stream', 'writing', 'tells every write that is under way when it is destroyed'),
  mirrored('sync-cork', 'writing', 'writes what was corked in one go, and in order'),
  mirrored('throttle', 'writing', 'stops a reader that pauses, and goes on when it resumes'),
  mirrored('timeout-no-handle', 'timeouts', 'ends with the socket'),
  mirrored('writable', 'ending', 'goes on writing after its peer has ended when it is half open'),
  mirrored('write-after-close', 'writing', 'refuses to write when it is destroyed, and tells only those who ask'),
  mirrored(
    'write-after-end-nt',
    'writing',
    'refuses to write after the peer has ended and it has followed, with EPIPE',
  ),
  mirrored('write-arguments', 'writing', 'refuses what is neither bytes nor text'),
  mirrored(
    'write-cb-on-destroy-before-connect',
    'writing',
    'tells a write that waited for a connection that it never comes',
  ),
  mirrored('write-connect-write', 'writing', 'keeps the order of what was written before, in and after the connection'),
  mirrored('write-fully-async-buffer', 'writing', 'brings a large buffer and a large string whole, and counts both'),
  mirrored(
    'write-fully-async-hex-string',
    'writing',
    'carries every byte value, text of every encoding and chunks of no length',
  ),
  mirrored('write-slow', 'writing', 'stops a reader that pauses, and goes on when it resumes'),
];

/** Is about behaviour, and behaves differently here: how, and why. */
export const DIFFERENT: ReadonlyMap<string, string> = new Map([
  [
    'access-byteswritten',
    'asks the prototype, whose private fields nobody has: the getter throws, where that of Node answers undefined',
  ],
  ['client-bind-twice', 'binds a client to a port: the adapter chooses the port, and says ENOTSUP'],
  ['localerror', 'its errors of wrong local addresses are the same, its wrong local ports are ENOTSUP'],
  [
    'connect-options-ipv6',
    'connects to ::1 by default where there is no IPv4: localhost is IPv4 here, and IPv6 is by address',
  ],
  ['server-blocklist', 'the option blockList of Node 23: not there yet; the listener of connections can destroy'],
  ['blocklist', 'the option blockList of connect, of Node 23: not there yet'],
]);

/** Is about what there is no counterpart of: by the reason. */
export const WITHOUT_COUNTERPART: ReadonlyMap<string, readonly string[]> = new Map([
  [
    'paths, descriptors and handles of the system, which an adapter has not (ENOTSUP, tested as such)',
    [
      'better-error-messages-listen-path',
      'connect-options-fd',
      'connect-options-path',
      'listen-fd0',
      'listen-after-destroying-stdin',
      'pipe-connect-errors',
      'pipe-with-long-path',
      'server-listen-handle',
      'server-listen-path',
      'socket-constructor',
    ],
  ],
  [
    'cluster and child processes, between which no connection can be handed',
    [
      'child-process-connect-reset',
      'listen-exclusive-random-ports',
      'listen-handle-in-cluster-1',
      'listen-handle-in-cluster-2',
      'server-close-before-ipc-response',
      'server-drop-connections-in-cluster',
    ],
  ],
  [
    "options of Linux's own sockets: SO_REUSEPORT, IPV6_V6ONLY, accepting several at once",
    [
      'reuseport',
      'listen-ipv6only',
      'deprecated-setsimultaneousaccepts',
      'server-simultaneous-accepts-produce-warning-once',
    ],
  ],
  [
    'racing the addresses of both families: they are tried in turn',
    [
      'autoselectfamily',
      'autoselectfamily-attempt-timeout-cli-option',
      'autoselectfamily-attempt-timeout-default-value',
      'autoselectfamily-commandline-option',
      'autoselectfamily-default',
      'autoselectfamily-ipv4first',
      'socket-connect-invalid-autoselectfamily',
      'socket-connect-invalid-autoselectfamilyattempttimeout',
    ],
  ],
  [
    'internals of Node: modules, async hooks, performance entries, the garbage of its handles',
    ['normalize-args', 'perf_hooks', 'connect-memleak'],
  ],
  ['functions that are those of Node, handed on', ['isip', 'isipv4', 'isipv6']],
]);
