import { spawnSync } from 'node:child_process'
import { chmodSync, readFileSync, writeFileSync } from 'node:fs'
import { join, resolve } from 'node:path'
import { beforeEach, expect, test } from '@jest/globals'
import { temporaryFolder } from './support/processes/folders.ts'
import { parts } from './verify/parts.ts'

const main = resolve('test/verify/main.ts')
let folder: string

/** Stands in for npm, which would run the parts for three quarters of an hour. */
function fakeNpm(script: string): void {
  writeFileSync(join(folder, 'npm'), `#!/bin/sh\necho "$* $BENCH_SHORT$DRILL_OLDER" >> calls\n${script}\n`)
  chmodSync(join(folder, 'npm'), 0o755)
}

function verify(...args: string[]) {
  const env = { PATH: `${folder}:/usr/bin:/bin` }
  const { status, stdout, stderr } = spawnSync(process.execPath, [main, ...args], {
    cwd: folder,
    env,
    encoding: 'utf8',
  })
  const rows = stdout.match(/^\| (?!part|-).*$/gm) ?? []
  return { status, stdout, stderr, rows }
}

const calls = () => readFileSync(join(folder, 'calls'), 'utf8').trimEnd().split('\n')

beforeEach(() => {
  folder = temporaryFolder()
})

test('runs every part, and a table at the end has each', () => {
  fakeNpm('exit 0')
  const { status, rows, stdout } = verify()
  expect(status).toBe(0)
  expect(rows).toEqual(
    Object.keys(parts).map(name => expect.stringMatching(`^\\| ${name} .*passed at the first try \\|  \\|$`)),
  )
  expect(stdout).toContain(`${rows.length} of ${rows.length} parts passed`)
  expect(calls()).toContain('run --silent drill -- --short released')
  expect(calls()).toContain('run --silent bench -- soak 1')
})

test('runs what comes after a part that failed, names what failed, and a program runs once more', () => {
  fakeNpm(`case "$3" in
    test:slow) echo 'FAIL test/bin/api.slow.test.ts (12.5 s)'; echo '  ● the API › answers'; exit 1;;
    drill) [ -e once ] || { touch once; echo 'Failed: each payment is made'; exit 1; };;
    builds) echo 'all went wrong' >&2; exit 1;;
  esac`)
  const { status, rows, stdout } = verify('slow', 'drill', 'builds', 'topology')
  expect(status).toBe(1)
  expect(rows).toEqual([
    expect.stringMatching(/^\| slow .* FAILED \| test\/bin\/api.slow.test.ts; the API › answers \|$/),
    expect.stringMatching(/^\| drill \| 0.0 \+ 0.0 .* passed at the second try \| each payment is made \|$/),
    expect.stringMatching(/^\| builds \| 0.0 \+ 0.0 .* FAILED \| all went wrong \/ then: all went wrong \|$/),
    expect.stringMatching(/^\| topology .* passed at the first try/),
  ])
  expect(stdout).toContain('verify: topology, part 4 of 4, after 0.0 minutes; failed: slow, builds')
  expect(calls()).toHaveLength(6)
})

test('runs again what failed the last time, also after other parts', () => {
  fakeNpm('[ "$3" != drill ]')
  expect(verify('drill', 'builds').status).toBe(1)
  expect(verify('topology').status).toBe(0)
  fakeNpm('exit 0')
  expect(verify('--failed').rows).toEqual([expect.stringMatching(/^\| drill .* passed at the first try/)])
  expect(verify('--failed').rows).toEqual([])
})

test('refuses a part that does not exist, with the list', () => {
  const { status, stderr } = verify('drll')
  expect([status, stderr]).toEqual([1, expect.stringContaining('There is no part drll. Say --failed, or')])
})
