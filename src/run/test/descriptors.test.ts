import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { run, without } from './support.js';

const HEAD = `
import array, ctypes, os, socket, sys
DEVICE, CM = '/dev/infiniband/uverbs0', '/dev/infiniband/rdma_cm'
def open_all(path):
    fds = []
    try:
        while True: fds.append(os.open(path, os.O_RDWR))
    except OSError: return fds
`;

async function python(code: string): Promise<string> {
  const { code: ending, out, errors } = await run(['python3', '-c', `${HEAD}${code}`]);
  assert.deepEqual([ending, errors], [0, ''], out);
  return out;
}

describe('descriptors of devices', { skip: without('python3', 'python3') }, () => {
  for (const device of ['DEVICE', 'CM'])
    it(`of ${device} that are closed are gone at once: as many can be opened again`, async () => {
      const out = await python(`
counts = []
for i in range(2):
    fds = open_all(${device})
    counts.append(len(fds))
    for fd in fds: os.close(fd)
print(counts[0] > 50, len(set(counts)))
`);
      assert.equal(out, 'True 1\n');
    });

  for (const device of ['DEVICE', 'CM'])
    it(`of ${device} that are refused, at whatever step the launcher has no descriptor left, leave none in the launcher`, async () => {
      const out = await python(`
import resource
launcher = os.getppid()
names = lambda: [int(fd) for fd in os.listdir('/proc/%d/fd' % launcher)]
limits = resource.prlimit(launcher, resource.RLIMIT_NOFILE)
def rounds(spares):
    counts = set()
    for spare in spares:
        resource.prlimit(launcher, resource.RLIMIT_NOFILE, (max(names()) + 1 + spare, limits[1]))
        for fd in open_all(${device}): os.close(fd)
        counts.add(len(names()))
    return counts
rounds([0, 40])
print(len(rounds(range(1, 13))))
resource.prlimit(launcher, resource.RLIMIT_NOFILE, limits)
`);
      assert.equal(out, '1\n');
    });

  it('of a device that takes no more programs leave none in the launcher', async () => {
    const out = await python(`
count = lambda: len(os.listdir('/proc/%d/fd' % os.getppid()))
fds = open_all(DEVICE)
before = count()
for i in range(50): open_all(DEVICE)
print(count() - before)
`);
    assert.equal(out, '0\n');
  });

  it('are devices also where another process has got them', async () => {
    const out = await python(`
a, b = socket.socketpair()
fd = os.open(DEVICE, os.O_RDWR)
if os.fork() == 0:
    _, told, *_ = a.recvmsg(1, socket.CMSG_SPACE(4))
    got = array.array('i', told[0][2])[0]
    print(oct(os.fstat(got).st_mode), flush=True)
    os._exit(0)
b.sendmsg([b'x'], [(socket.SOL_SOCKET, socket.SCM_RIGHTS, array.array('i', [fd]))])
os.wait()
`);
    assert.equal(out, '0o20666\n');
  });

  it('are none any more where another file has taken their place', async () => {
    const out = await python(`
libc = ctypes.CDLL(None, use_errno=True)
fd = os.open(DEVICE, os.O_RDWR)
os.fstat(fd)
ends = os.pipe()
os.dup2(ends[1], fd)
print(os.write(fd, b'y' * 32), os.read(ends[0], 64) == b'y' * 32, libc.ioctl(fd, 0xc0181b01, 0), ctypes.get_errno())
`);
    assert.equal(out, '32 True -1 25\n');
  });
});
