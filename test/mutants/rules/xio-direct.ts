import type { Mutant } from '../mutant.js';

/** Rules of memory that ends of a session of xio share, and of bodies in pieces. */
const GRANTING = 'protocol/xio.md 10.8';
const LINKS = 'protocol/xio.md 10.1';

export const xioDirect: readonly Mutant[] = [
  {
    name: 'xio-revoke-answered-early',
    rule: 'REVOKE is answered when nothing is under way there any more',
    source: GRANTING,
    in: 'Accesses.onRevoke',
    from: 'if (mapping === undefined || mapping.users.size === 0) done();',
    to: 'if (done !== undefined) done();',
    games: ['xio-sim'],
  },
  {
    name: 'xio-place-of-another-link',
    rule: 'a place is good on its link alone',
    source: GRANTING,
    in: 'Accesses.#go',
    from: 'if (mapping === undefined || mapping.link !== link || !this.#use(running, mapping)) this.#map(running);',
    to: 'if (mapping === undefined || !this.#use(running, mapping)) this.#map(running);',
    games: ['xio-sim'],
  },
  {
    name: 'xio-place-not-made-anew',
    rule: 'the answer to MAP names the memory as the link does that it is sent on',
    source: GRANTING,
    in: 'Grants.map',
    from: 'if (mapping?.link !== link) {',
    to: 'if (mapping === undefined) {',
    games: ['xio-sim'],
  },
  {
    name: 'xio-revoked-taken-for-done',
    rule: 'an access whose seal was broken has not counted',
    source: GRANTING,
    in: 'Accesses.#onMoved',
    from: `case 'done':
        this.#done(running);`,
    to: `case 'done':
      case 'revoked' as 'done':
        this.#done(running);`,
    games: ['xio-sim'],
  },
  {
    name: 'xio-lost-taken-for-done',
    rule: 'an access that was under way on a link that is lost is done again on the next',
    source: GRANTING,
    in: 'Accesses.#onMoved',
    from: `case 'lost':
        this.#go(running);`,
    to: `case 'lost':
        this.#done(running);`,
    games: ['xio-sim'],
  },
  {
    name: 'xio-moving-not-taken-back',
    rule: 'memory of an access that was given up is not touched any more',
    source: GRANTING,
    in: 'Accesses.begin',
    from: `this.#end(running);
      running.moving?.takeBack();`,
    to: 'this.#end(running);',
    games: ['xio-sim'],
  },
  {
    name: 'xio-landing-after-revoke',
    rule: 'what still comes for memory that was revoked goes elsewhere',
    source: GRANTING,
    in: 'Grants.revoke',
    from: `this.#redirect(grant);
    for (const [lane, mapping]`,
    to: 'for (const [lane, mapping]',
    games: ['xio-sim'],
  },
  {
    name: 'xio-answer-after-revoke',
    rule: 'memory that was revoked is not sent any more by answers that were begun before',
    source: GRANTING,
    in: 'Grants.revoke',
    from: 'for (const answer of grant.answers) answer.spoil(XioStatus.XIO_E_USER_OBJ_NOT_FOUND);',
    to: '',
    games: ['xio-sim'],
  },
  {
    name: 'xio-grant-beyond-its-end',
    rule: 'the owner checks where an access ends, whatever the token says',
    source: GRANTING,
    in: 'Accesses.#use',
    from: 'if (offset + lengthOf(memory) > length) {',
    to: 'if (offset > length) {',
    games: ['xio'],
  },
  {
    name: 'xio-grant-checked-by-its-user',
    rule: 'and so it does where messages are used',
    source: GRANTING,
    in: 'Grants.check',
    from: 'return offset + length <= grant.length ? XioStatus.XIO_E_SUCCESS : XioStatus.XIO_E_REM_USER_BUF_OVERFLOW;',
    to: 'return XioStatus.XIO_E_SUCCESS;',
    games: ['xio'],
  },
  {
    name: 'xio-seal-not-looked-at',
    rule: 'an access counts where the seal is whole behind it',
    source: GRANTING,
    in: 'Moves.start',
    from: "else tell(isWhole ? 'done' : 'revoked');",
    to: "else tell(isWhole ? 'done' : 'done');",
    games: ['xio'],
  },
  {
    name: 'xio-memory-not-moved-away',
    rule: 'nothing that is under way reaches memory that was revoked',
    source: GRANTING,
    in: 'Granted.revoke',
    from: `this.seal.fill(0);
    this.shared.takeBack();`,
    to: 'this.seal.fill(0);',
    games: ['xio'],
  },
  {
    name: 'xio-placement-ignored',
    rule: 'a body that is to go apart from its head does, however short it is',
    source: 'protocol/xio.md 10.2',
    in: 'RdmaLink.send',
    from: 'const isShort = !isApart && bodyBytes',
    to: 'const isShort = bodyBytes',
    games: ['xio'],
  },
  {
    name: 'xio-landed-late',
    rule: 'nothing comes into memory that the program has back',
    source: LINKS,
    in: 'InSlot.land',
    from: 'if (!this.#isTaken && !this.#isReleased) this.into',
    to: 'this.into',
    games: ['xio'],
  },
  {
    name: 'xio-piece-not-redirected',
    rule: 'nothing is written to any of the pieces that were redirected',
    source: LINKS,
    in: 'Loans.takeBack',
    from: 'for (const loan of this.pieces) loan.takeBack();',
    to: 'this.pieces[0].takeBack();',
    games: ['xio'],
  },
];
