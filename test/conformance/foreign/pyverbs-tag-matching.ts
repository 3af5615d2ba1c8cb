import { casesOf } from './types.js';

// A tag matching SRQ (hardware MPI tag matching, skipped without capability TM_RC): nine tags are added to its list, each
// with completion TM_ADD, then nine messages with a tag matching header are sent in the reverse order.
export const pyverbsTagMatching = casesOf('pyverbs', 'tests/test_tag_matching.py', {
  'TMTest.test_tm_traffic':
    'Eager messages with known tags: TM_RECV with wr_id and tag of the entry, flags TM_MATCH and TM_DATA_VALID; the data without its 16-byte header lands there.',
  'TMTest.test_tm_unexpected_tag':
    'Eager messages with an unknown tag: TM_RECV with wr_id, tag and flags 0, the whole message in an ordinary receive, unexpected count up by one, and TAG_SYNC completes TM_SYNC.',
  'TMTest.test_tm_no_tag':
    'Messages with header operation NO_TAG: TM_NO_TAG with wr_id, tag and flags 0, the whole message in an ordinary receive.',
  'TMTest.test_tm_rndv':
    'Rendezvous messages: TM_RECV with TM_MATCH, the device READs the data itself and completes TM_RECV with TM_DATA_VALID; the sender receives the finish message.',
});
