import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { cannotRun, run, without } from './support.js';

const noPython = without('python3', 'python3');

async function sh(script: string): Promise<string> {
  const { code, out, errors } = await run(['sh', '-c', script]);
  assert.deepEqual([code, errors], [0, ''], out);
  return out;
}

async function python(script: string): Promise<string> {
  const { code, out, errors } = await run(['python3', '-c', `import ctypes, os\n${script}`]);
  assert.deepEqual([code, errors], [0, ''], out);
  return out;
}

describe('a script in a directory of sysfs', { skip: cannotRun }, () => {
  it('finds the devices, and its files by relative paths', async () => {
    const out = await sh(`
      cd /sys/class/infiniband && echo * && cat rxe0/node_type && cd rxe0/ports/1 && cat state ../../node_type
      test -r gids/0 && test -d ../1 && echo yes`);
    assert.equal(out, 'rxe0\n1: CA\n4: ACTIVE\n1: CA\nyes\n');
  });

  it('is told where it is, also by the system call', async () => {
    const out = await sh('cd /sys/class/infiniband/rxe0; pwd; /bin/pwd; cd ..; pwd; cd /; /bin/pwd; ls -d sys');
    assert.equal(out, '/sys/class/infiniband/rxe0\n/sys/class/infiniband/rxe0\n/sys/class/infiniband\n/\nsys\n');
  });

  it('hands it on to what it starts, and changes nothing for what it has started before', async () => {
    const out = await sh(`
      place=$(mktemp -d); mkfifo $place/go; cd $place; echo here > node_type
      (read word < $place/go; cat node_type) &
      cd /sys/class/infiniband/rxe0; sh -c 'cat node_type; (cat node_type)'; cd - > /dev/null; cat node_type
      cd /sys/class/infiniband/rxe0; echo > $place/go; wait; rm -r $place`);
    assert.equal(out, '1: CA\n1: CA\nhere\nhere\n');
  });

  it('cannot go where nothing is, or to a file', async () => {
    const out = await sh(`
      cd /sys/class/infiniband
      for to in nothing rxe0/node_type rxe0/node_type/x; do (cd $to 2> /dev/null) || echo no; done; pwd`);
    assert.equal(out, 'no\nno\nno\n/sys/class/infiniband\n');
  });

  it('lists it in full', async () => {
    const out = await sh('cd /sys/class/infiniband; ls -la; ls -l /sys/class/infiniband/rxe0 /dev/infiniband | wc -l');
    assert.match(out, /^total 0\ndrwxr-xr-x.* \.\ndrwxr-xr-x.* \.\.\ndrwxr-xr-x.* rxe0\n\d+\n$/);
  });

  it('changes nothing in the directory where it was before', async () => {
    const out = await sh(`
      place=$(mktemp -d); cd $place; mkdir rxe0; echo kept > file; printf '#!/bin/sh\necho ran\n' > program; chmod +x program
      before=$(ls -l); cd /sys/class/infiniband
      for command in 'mkdir new' 'rmdir rxe0' 'rm -r rxe0' 'rm file' 'mv file other' 'mv /etc/hostname file' 'touch new' \
        'ln -s file new' 'ln file new' 'chmod 0 rxe0' 'cp /dev/null new' 'mknod new p' './program' 'truncate -s 1 file'; do
        $command 2> /dev/null && echo "$command"
      done
      cd $place; test "$before" = "$(ls -l)" && echo same; ./program; rm -r $place`);
    assert.equal(out, 'same\nran\n');
  });

  it('is in it by fchdir as well', { skip: noPython }, async () => {
    const out = await python(`
fd = os.open('/sys/class/infiniband/rxe0', os.O_RDONLY)
before = os.open('.', os.O_RDONLY)
was = os.getcwd()
os.fchdir(fd)
print(os.getcwd(), open('node_type').read().strip(), os.path.exists('ports/1/state'))
os.fchdir(before)
print(os.getcwd() == was, os.path.exists('node_type'))
`);
    assert.equal(out, '/sys/class/infiniband/rxe0 1: CA True\nTrue False\n');
  });

  it('is answered by ibstatus', { skip: without('ibstatus', 'infiniband-diags') }, async () => {
    const { code, out, errors } = await run(['ibstatus']);
    assert.deepEqual([code, errors], [0, '']);
    assert.match(out, /^Infiniband device 'rxe0' port 1 status:\n/);
    assert.match(out, /state:\s+4: ACTIVE\n/);
  });
});

describe('the files of sysfs', { skip: cannotRun }, () => {
  it('are the same to lstat and to fstat, and to readdir', { skip: noPython }, async () => {
    const out = await python(`
libc = ctypes.CDLL(None, use_errno=True)
def facts(s): return (s.st_dev, s.st_ino, oct(s.st_mode), s.st_rdev, os.path.stat.S_ISDIR(s.st_mode) or s.st_size)
seen, wrong, devices, inodes = 0, [], set(), set()
for top in '/sys/class/infiniband', '/sys/class/infiniband_verbs', '/sys/class/misc/rdma_cm', '/dev/infiniband':
    for at, folders, files in os.walk(top):
        listed = {entry.name: entry.inode() for entry in os.scandir(at)}
        for name in ['.'] + folders + files:
            path = os.path.normpath(os.path.join(at, name))
            by_path = os.lstat(path)
            fd = os.open(path, os.O_RDONLY)
            raw = (ctypes.c_ulong * 18)()
            # The system call itself: the C library may make another.
            if os.uname().machine == 'x86_64' and libc.syscall(5, fd, raw) != 0: wrong.append((path, 'fstat'))
            elif os.uname().machine == 'x86_64' and raw[1] != by_path.st_ino: wrong.append((path, 'raw', raw[1]))
            if facts(by_path) != facts(os.fstat(fd)): wrong.append((path, facts(by_path), facts(os.fstat(fd))))
            if name != '.' and listed[name] != by_path.st_ino: wrong.append((path, 'readdir'))
            os.close(fd)
            seen += 1
            devices.add(by_path.st_dev)
            inodes.add((path, by_path.st_ino))
text = os.lstat('/sys/class/infiniband/rxe0/node_type')
print(seen > 50, wrong, len(devices), len({inode for _, inode in inodes}) == len({path for path, _ in inodes}))
print(oct(text.st_mode), text.st_size)
`);
    assert.equal(out, 'True [] 1 True\n0o100444 4096\n');
  });

  it('can be copied, counted and searched', async () => {
    const out = await sh(`
      place=$(mktemp -d); cp -r /sys/class/infiniband/rxe0 $place/copy
      cat $place/copy/node_type; cmp $place/copy/ports/1/gids/0 /sys/class/infiniband/rxe0/ports/1/gids/0
      (cd /sys/class/infiniband/rxe0; find . | sort) > $place/theirs; (cd $place/copy; find . | sort) > $place/ours
      cmp $place/theirs $place/ours; rm -r $place
      du -s /sys/class/infiniband > /dev/null; stat -f -c %T /sys/class/infiniband; find /sys/class/infiniband -xdev -name state
      find /sys/class/infiniband/ -name node_type -execdir cat {} \\;`);
    assert.equal(out, '1: CA\nsysfs\n/sys/class/infiniband/rxe0/ports/1/state\n1: CA\n');
  });

  it('are listed where they lie, beside those of the kernel', async () => {
    const out = await sh(`
      ls /sys/class | grep '^infiniband'; ls /sys/class/net > /dev/null && ls /sys/class | grep -c '^net$'
      ls /dev | grep -e '^infiniband$' -e '^null$'; echo /sys/class/infiniband*`);
    const lines = out.trimEnd().split('\n');
    assert.deepEqual(lines, [
      'infiniband',
      'infiniband_verbs',
      '1',
      'infiniband',
      'null',
      '/sys/class/infiniband /sys/class/infiniband_verbs',
    ]);
  });

  it(
    'are of the version of the firmware that verbs tell',
    { skip: without('ibv_devinfo', 'ibverbs-utils') },
    async () => {
      const out = await sh('ibv_devinfo | grep fw_ver; cat /sys/class/infiniband/rxe0/fw_ver');
      const [verbs, sysfs] = out.trimEnd().split('\n');
      assert.equal(verbs.split(':')[1].trim(), sysfs);
    },
  );
});
