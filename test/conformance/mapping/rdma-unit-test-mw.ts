import { type Mapping, testsOf } from './types.js';

const all = testsOf('mw-lifetime', 'windows');
const first = testsOf('mw-type1', 'windows of type 1');
const bind = testsOf('mw-type2', 'binding windows of type 2');
const close = testsOf('mw-type2', 'closing windows of type 2');
const stream = testsOf('mw-streams', 'READs that stream through a window');

/** The same test of rights for windows of either type. */
const rights = (name: string): readonly string[] => [
  `mw-access: rights of a window of type 1 › ${name}`,
  `mw-access: rights of a window of type 2 › ${name}`,
];

/** Rights of a window, of a region, and whether the bind is taken. */
const bindOf = (window: string, region: string, outcome: 'bound' | 'refused'): readonly string[] =>
  rights(`${window} on a region with ${region}: ${outcome}`);

const ENDED = 'It has ended, since a program has no handle to break: EINVAL, and nothing is posted.';

export const mapping: Mapping = {
  'MwGeneralTest.Alloc': {
    test: [
      all('of type 1 tell domain, device and type, and can be ended'),
      all('of type 2 tell domain, device and type, and can be ended'),
    ],
  },
  'MwGeneralTest.DeallocInvalidMw': {
    test: [all('of type 1 cannot be ended twice'), all('of type 2 cannot be ended twice')],
    note: 'It has ended, since a program has no handle to break: EINVAL.',
  },
  'MwGeneralTest.Bind': { test: bindOf('all', 'all', 'bound') },
  'MwGeneralTest.Read': { test: rights('REMOTE_READ alone opens it to a READ, whatever the region allows') },
  'MwGeneralTest.ReadZeroBased': { test: bind('with ZERO_BASED has peers name the first byte as 0') },
  'MwGeneralTest.BindReadDiffQp': {
    test: [
      'mw-access: rights of a window of type 1 › on another queue pair of the domain than it was bound on, it is open',
      'mw-access: rights of a window of type 2 › on another queue pair of the domain than it was bound on, it is closed',
    ],
  },
  'MwGeneralTest.BindInvalidMr': {
    test: [
      all('of type 1 cannot be bound to a region that has ended'),
      all('of type 2 cannot be bound to a region that has ended'),
    ],
    note: ENDED,
  },
  'MwGeneralTest.BindInvalidMw': {
    test: [all('of type 1 that have ended cannot be bound'), all('of type 2 that have ended cannot be bound')],
    note: ENDED,
  },
  'MwGeneralTest.BindInvalidQp': {
    test: [
      all('of type 1 cannot be bound on a queue pair that has ended'),
      all('of type 2 cannot be bound on a queue pair that has ended'),
    ],
    note: ENDED,
  },
  'MwGeneralTest.DeregMrWhenBound': {
    test: [
      all('of type 1 that are bound keep their region from ending, and go on'),
      all('of type 2 that are bound keep their region from ending, and go on'),
    ],
  },
  'MwType1Test.BindZeroLengthMw': { test: first('that are bound to nothing close') },
  'MwType1Test.UnsignaledBindError': {
    test: all('of type 1 tell of a bind over memory outside of the region even if it was not signaled'),
  },
  'MwType1Test.DestroyQpWithType1Bound': {
    test: all('of type 1 do not keep the queue pair from ending on which they were bound'),
  },
  'MwType1Test.CrossQpManagement': { test: first('can be bound anew on another queue pair') },
  'MwType1Test.DeallocPdWithOutstandingMw': {
    test: 'pd-lifetime: protection domains › cannot be ended while a window of type 1 is in them',
  },
  'MwType1Test.BindType1WhenQpError': { test: all('of type 1 flush their bind on a queue pair in ERR') },
  'MwType2Test.Bind': { test: bindOf('all', 'all', 'bound') },
  'MwType2Test.UnsignaledBind': { test: bind('that is not signaled completes without an entry') },
  'MwType2Test.BindZeroLengthMw': { test: bind('to zero bytes is refused') },
  'MwType2Test.BindRKeyReuse': {
    test: bind('leaves the low byte of the key to the program, and keeps keys of different windows apart'),
    note: 'The key of a request is all of the window’s, of which the low byte may differ (protocol/services.md 3.7). With the index of another window the bind is refused.',
  },
  'MwType2Test.DistinctRKeys': {
    test: bind('goes well for thousands of windows at once'),
    note: 'As the case before: the same low byte for all of them, each with its own index.',
  },
  'MwType2Test.UnsignaledBindError': {
    test: all('of type 2 tell of a bind over memory outside of the region even if it was not signaled'),
  },
  'MwType2Test.LocalInvalidate': { test: close('by LOCAL_INV completes so, and the key is of no use then') },
  'MwType2Test.UnsignaledLocalInvalidate': {
    test: close('by LOCAL_INV that is not signaled completes without an entry'),
  },
  'MwType2Test.UnsignaledLocalInvalidateError': {
    test: close('by LOCAL_INV with another low byte fails, with an entry although it was not signaled'),
  },
  'MwType2Test.Type1BindOnType2': { test: first('are the only ones that bindMw takes') },
  'MwType2Test.DestroyQpWithType2Bound': {
    test: all('of type 2 do not keep the queue pair from ending on which they were bound'),
  },
  'MwType2Test.DeregMrWhenBound': {
    test: all('of type 2 that are bound keep their region from ending, and go on'),
    note: 'Of the two outcomes that theirs allows, ours is EBUSY.',
  },
  'MwType2Test.RebindToDifferentQp': {
    test: bind('again without invalidation is refused on another queue pair'),
  },
  'MwType2Test.RebindToDifferentRKey': {
    test: bind('again without invalidation is refused on the same queue pair'),
  },
  'MwType2Test.CrossQpInvalidate': {
    test: close('by LOCAL_INV on another queue pair fails, and the window stays open'),
  },
  'MwType2Test.CrossQpRead': { test: bind('binds for the queue pair alone that carried it out') },
  'MwType2Test.BindType1WhenQpError': { test: all('of type 2 flush their bind on a queue pair in ERR') },
  'MwBindAccessTest.MwBindAccessTests': {
    test: [
      ...bindOf('all', 'all', 'bound'),
      ...bindOf('nothing', 'MW_BIND', 'bound'),
      ...bindOf('REMOTE_READ', 'MW_BIND', 'bound'),
      ...bindOf('REMOTE_WRITE', 'LOCAL_WRITE+MW_BIND', 'bound'),
      ...bindOf('REMOTE_ATOMIC', 'LOCAL_WRITE+MW_BIND', 'bound'),
      ...bindOf('all', 'all but MW_BIND', 'refused'),
      ...bindOf('REMOTE_WRITE', 'REMOTE_READ+MW_BIND', 'refused'),
      ...bindOf('REMOTE_ATOMIC', 'REMOTE_READ+MW_BIND', 'refused'),
    ],
    note: 'Where theirs allows several statuses, ours is MW_BIND_ERR (protocol/services.md 3.7).',
  },
  'MwType2AdvancedTest.OnlyReads': { test: stream('type 2: all of them succeed as long as it is open') },
  'MwType2AdvancedTest.Rebind': {
    test: stream('type 2: they break off when binding it again fails, which takes the owner’s queue pair to ERR'),
    note: 'The READs end with RETRY_EXC_ERR here: the bind that failed took the queue pair to ERR, where it is silent (protocol/reliable.md 2.9).',
  },
  'MwType2AdvancedTest.Invalidate': { test: stream('type 2: they break off when it is invalidated') },
  'MwType2AdvancedTest.Dealloc': { test: stream('type 2: they break off when it ends') },
};
