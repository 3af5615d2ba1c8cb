import { type Mapping, testsOf } from './types.js';

const bounds = testsOf('buffer-regions', 'the bounds of a region');
const nothing = testsOf('buffer-regions', 'messages of zero bytes');

const NO_EMPTY_REGIONS = 'There are no regions of 0 bytes here (EINVAL); the key is that of a region that has ended.';

/** The same test for windows of either type. */
const ofWindows = (name: string): readonly string[] => [
  `buffer-windows: the bounds of a window of type 1 › ${name}`,
  `buffer-windows: the bounds of a window of type 2 › ${name}`,
];

export const mapping: Mapping = {
  'BufferTest.RegisterZeroByteMr': {
    test: bounds('memory without bytes is refused'),
    note: 'Theirs wants it to succeed. Where Linux itself pins the memory it refuses a range of no pages, and so do we: EINVAL.',
  },
  'BufferMrTest.SendZeroByte': { test: nothing('a SEND from inside a region arrives') },
  'BufferMrTest.SendZeroByteFromZeroByteMr': {
    test: nothing('a SEND from the first byte of a region to that of another arrives'),
    note: 'There are no regions of 0 bytes here, so none is registered beside. What the request names is the beginning of the large region, by its key; theirs has both ends use the same one.',
  },
  'BufferMrTest.SendZeroByteOutsideMr': { test: nothing('a SEND from outside of the region of the key arrives') },
  'BufferMrTest.ReadExceedFront': {
    test: bounds('a READ that begins one byte before the peer’s is refused there'),
  },
  'BufferMrTest.ReadExceedRear': { test: bounds('a READ that ends one byte behind the peer’s is refused there') },
  'BufferMrTest.ReadZeroByte': { test: nothing('a READ inside the region succeeds') },
  'BufferMrTest.ReadZeroByteOutsideMr': {
    test: nothing('a READ with both addresses outside of the regions succeeds'),
  },
  'BufferMrTest.ReadZeroByteFromZeroByteMr': {
    test: nothing('a READ with the R_Key of a region that has ended succeeds'),
    note: NO_EMPTY_REGIONS,
  },
  'BufferMrTest.ReadZeroByteOutsideZeroByteMr': {
    test: nothing('a READ with the R_Key of a region that has ended succeeds'),
    note: NO_EMPTY_REGIONS,
  },
  'BufferMrTest.ReadZeroByteInvalidRKey': { test: nothing('a READ with an R_Key that nothing has succeeds') },
  'BufferMrTest.WriteExceedFront': {
    test: bounds('a WRITE that begins one byte before the peer’s is refused there'),
  },
  'BufferMrTest.WriteExceedRear': { test: bounds('a WRITE that ends one byte behind the peer’s is refused there') },
  'BufferMrTest.WriteZeroByte': { test: nothing('a WRITE inside the region succeeds') },
  'BufferMrTest.WriteZeroByteOutsideMr': {
    test: nothing('a WRITE with both addresses outside of the regions succeeds'),
  },
  'BufferMrTest.WriteZeroByteToZeroByteMr': {
    test: nothing('a WRITE with the R_Key of a region that has ended succeeds'),
    note: NO_EMPTY_REGIONS,
  },
  'BufferMrTest.WriteZeroByteOutsideZeroByteMr': {
    test: nothing('a WRITE with the R_Key of a region that has ended succeeds'),
    note: NO_EMPTY_REGIONS,
  },
  'BufferMrTest.WriteZeroByteInvalidRKey': { test: nothing('a WRITE with an R_Key that nothing has succeeds') },
  'BufferMwTest.BindExceedFront': { test: ofWindows('a bind to what begins one byte before the region is refused') },
  'BufferMwTest.BindExceedRear': { test: ofWindows('a bind to what ends one byte behind the region is refused') },
  'BufferMwTest.ReadExceedFront': {
    test: ofWindows('a READ that begins one byte before it is refused, though the region goes on'),
  },
  'BufferMwTest.ReadExceedRear': {
    test: ofWindows('a READ that ends one byte behind it is refused, though the region goes on'),
  },
  'BufferMwTest.ReadZeroByte': { test: ofWindows('a READ of zero bytes inside it succeeds') },
  'BufferMwTest.ReadZeroByteOutsideMw': { test: ofWindows('a READ of zero bytes before it succeeds') },
  'BufferMwTest.WriteExceedFront': {
    test: ofWindows('a WRITE that begins one byte before it is refused, though the region goes on'),
  },
  'BufferMwTest.WriteExceedRear': {
    test: ofWindows('a WRITE that ends one byte behind it is refused, though the region goes on'),
  },
  'BufferMwTest.WriteZeroByte': { test: ofWindows('a WRITE of zero bytes inside it succeeds') },
  'BufferMwTest.WriteZeroByteOutsideMw': { test: ofWindows('a WRITE of zero bytes before it succeeds') },
};
