import type { Mutant } from '../mutant.js';

/** Rules of how workers of UCP meet by their addresses. */
const SECTION = 'protocol/ucp.md 9.6';

export const ucpWireup: readonly Mutant[] = [
  {
    name: 'ucp-crossed-at-both',
    rule: 'where calls cross, one end refuses and the other accepts',
    source: SECTION,
    in: 'Neighbours.asked',
    from: 'if (call !== undefined && hasPrecedence(this.own(), from))',
    to: 'if (call !== undefined)',
    games: ['ucp', 'ucp-sim'],
  },
  {
    name: 'ucp-crossed-at-neither',
    rule: 'where calls cross, there is one connection',
    source: SECTION,
    in: 'hasPrecedence',
    from: 'return one.host === other.host ? one.uuid < other.uuid : one.host < other.host;',
    to: 'return false;',
    games: ['ucp'],
  },
  {
    name: 'ucp-answered-again',
    rule: 'a call that was answered by a connection of the other end is refused',
    source: SECTION,
    in: 'Neighbours.asked',
    from: "if (this.#answered.has(callKey(from, theirs))) return { kind: 'crossed' };",
    to: '',
    games: ['ucp'],
  },
  {
    name: 'ucp-spare-forgotten',
    rule: 'a call takes the endpoint that the other end has asked for before',
    source: SECTION,
    in: 'Neighbours.claim',
    from: 'const endpoint = this.#spare.of(to).at(0);',
    to: 'const endpoint = this.#spare.of(to).at(1);',
    games: ['ucp'],
  },
  {
    name: 'ucp-any-worker',
    rule: 'who asks for another worker than this is refused',
    source: SECTION,
    in: 'Wireup.#meet',
    from: 'else if (meeting.toUuid !== this.#uuid) request.reject(encodeNoMeeting(NoMeeting.GONE));',
    to: '',
    games: ['ucp'],
  },
  {
    name: 'ucp-neighbour-of-any-host',
    rule: 'who says to be a worker, and asks from another host, is not taken for it',
    source: SECTION,
    in: 'keyOf',
    from: 'return `${uuid} ${host}`;',
    to: 'return `${uuid} ${host.length >> 8}`;',
    games: ['ucp'],
  },
  {
    name: 'ucp-unclaimed-without-limit',
    rule: 'endpoints that nobody has asked for have a limit',
    source: SECTION,
    in: 'Neighbours.asked',
    from: 'if (call === undefined && this.#spare.size + this.#accepting.size >= this.most)',
    to: 'if (call === undefined && this.#spare.size + this.#accepting.size < 0)',
    games: ['ucp'],
  },
  {
    name: 'ucp-unclaimed-stay',
    rule: 'an endpoint that nobody has asked for is closed when its peer has gone',
    source: SECTION,
    in: 'Wireup.#onAccepted',
    from: 'else endpoint.setErrorHandler(() => endpoint.close());',
    to: '',
    games: ['ucp'],
  },
];
