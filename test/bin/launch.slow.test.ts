import { spawnSync } from 'node:child_process'
import {
  chmodSync,
  cpSync,
  existsSync,
  mkdirSync,
  readFileSync,
  rmSync,
  utimesSync,
  writeFileSync,
} from 'node:fs'
import { dirname, join } from 'node:path'
import { beforeEach, describe, expect, test } from '@jest/globals'
import { temporaryFolder } from '../support/processes/folders.ts'
import { type Launched, launch } from '../support/processes/launched.ts'
import { until } from '../support/until.ts'

let checkout: string

const inCheckout = (path: string) => join(checkout, path)

function put(path: string, text: string): void {
  mkdirSync(dirname(inCheckout(path)), { recursive: true })
  writeFileSync(inCheckout(path), text)
}

function lockfile(integrity: string): string {
  const entry = { version: '1.0.0', integrity }
  const foreign = { ...entry, optional: true, os: ['aix'], cpu: ['ppc64'] }
  const packages = {
    '': { optionalDependencies: { far: '1' } },
    'node_modules/near': entry,
    'node_modules/far': foreign,
    'node_modules/tool': { ...entry, dev: true },
  }
  return JSON.stringify({ packages })
}

function fakeNpm(script: string): void {
  put('path/npm', `#!/bin/sh\necho "$*" >> calls\n${script}\n`)
  chmodSync(inCheckout('path/npm'), 0o755)
}

const installing = 'sleep 0.3; mkdir -p node_modules; cp package-lock.json node_modules/.package-lock.json'

/** What npm leaves when it omits the packages for development. */
const installingForService = `sleep 0.3; mkdir -p node_modules; sed 's/tool/other/' package-lock.json > node_modules/.package-lock.json`

const argumentsOfNpm = () => readFileSync(inCheckout('calls'), 'utf8').trimEnd().split('\n')
const calls = () => argumentsOfNpm().length

function run(command = 'openapi', path = `${inCheckout('path')}:/usr/bin:/bin`): Launched {
  return launch(process.execPath, [inCheckout('src/bin/launcher/launch.mjs'), command], { PATH: path })
}

beforeEach(() => {
  checkout = temporaryFolder()
  cpSync('src/bin/launcher', inCheckout('src/bin/launcher'), { recursive: true })
  cpSync('src/dev/host.mjs', inCheckout('src/dev/host.mjs'))
  for (const program of ['openapi', 'start'])
    put(`src/bin/${program}.ts`, "process.stdout.write('handed over\\n' as string)")
  put('package-lock.json', lockfile('sha512-one'))
  put('commands.json', '{}')
  fakeNpm(installing)
})

describe('a launch', () => {
  test('installs the packages of the lockfile first, and only once', async () => {
    const first = run()
    expect(await first.exit).toBe(0)
    expect(first.output()).toMatch(/^Installing .*\nInstalled in .*\nhanded over\n$/)
    const second = run()
    expect(await second.exit).toBe(0)
    expect(second.output()).toBe('handed over\n')
    expect(calls()).toBe(1)
  })

  test('installs again when the lockfile has changed', async () => {
    await run().exit
    put('package-lock.json', lockfile('sha512-two'))
    await run().exit
    expect(calls()).toBe(2)
  })

  test('of the service leaves out the packages for development, and the next tool adds them', async () => {
    fakeNpm(installingForService)
    expect(await run('start').exit).toBe(0)
    expect(await run('start').exit).toBe(0)
    fakeNpm(installing)
    expect(await run('openapi').exit).toBe(0)
    expect(await run('start').exit).toBe(0)
    expect(argumentsOfNpm()).toEqual([
      expect.stringMatching(/^ci --omit=dev /),
      expect.stringMatching(/^install --no-save --include=dev /),
    ])
  })

  test('waits for another launch that is installing', async () => {
    fakeNpm(`until [ -e both-run ]; do sleep 0.05; done; ${installing}`)
    const both = [run(), run()]
    await until('one waits', () => both.some(({ output }) => output().includes('waiting for it')))
    put('both-run', '')
    expect(await Promise.all(both.map(({ exit }) => exit))).toEqual([0, 0])
    expect(both.map(({ output }) => output()).join()).toContain('is installing here; waiting for it')
    expect(calls()).toBe(1)
  })

  test('does not wait for an installation that was stopped', async () => {
    fakeNpm('exec sleep 60')
    const stopped = run()
    await until('npm at work', () => existsSync(inCheckout('calls')))
    stopped.kill('SIGTERM')
    expect(await stopped.exit).toBe(1)
    fakeNpm(installing)
    expect(await run().exit).toBe(0)
  })
})

describe('the table of commands', () => {
  const writing =
    "import { writeFileSync } from 'node:fs'\nwriteFileSync('commands.json', 'new')\nconsole.log('written')"
  const agentpay = () => {
    const { status, stdout } = spawnSync(process.execPath, [inCheckout('src/bin/launcher/agentpay.mjs')], {
      env: { PATH: `${inCheckout('path')}:/usr/bin:/bin` },
      encoding: 'utf8',
    })
    return { status, stdout }
  }
  const table = () => readFileSync(inCheckout('commands.json'), 'utf8')

  beforeEach(() => {
    put('src/bin/commands.ts', writing)
    put('src/bin/agentpay.ts', "process.stdout.write('ran\\n' as string)")
    rmSync(inCheckout('commands.json'))
  })

  test('is written before a task that needs it, once, and not by one that does not', async () => {
    expect(await run('openapi').exit).toBe(0)
    expect(existsSync(inCheckout('commands.json'))).toBe(false)
    const first = run('start')
    expect([await first.exit, table()]).toEqual([0, 'new'])
    expect(first.output()).toBe('written\nhanded over\n')
    const again = run('start')
    expect(await again.exit).toBe(0)
    expect(again.output()).toBe('handed over\n')
  })

  test('is written at the first use of the command, which installs first, and prints its own output only', () => {
    expect(agentpay()).toEqual({ status: 0, stdout: 'ran\n' })
    expect([table(), calls()]).toEqual(['new', 1])
    put('commands.json', 'kept')
    expect(agentpay()).toEqual({ status: 0, stdout: 'ran\n' })
    expect([table(), calls()]).toEqual(['kept', 1])
  })

  test('is written again when the contracts are newer', () => {
    put('commands.json', 'old')
    put('openapi.json', '{}')
    const past = new Date('2026-01-01')
    utimesSync(inCheckout('commands.json'), past, past)
    expect(agentpay().status).toBe(0)
    expect(table()).toBe('new')
    utimesSync(inCheckout('openapi.json'), past, past)
    put('commands.json', 'kept')
    expect(agentpay().status).toBe(0)
    expect(table()).toBe('kept')
  })

  test('that cannot be written ends the command, and the task', async () => {
    put('src/bin/commands.ts', 'process.exitCode = 1')
    expect(agentpay()).toEqual({ status: 1, stdout: '' })
    const task = run('start')
    expect([await task.exit, task.output()]).toEqual([
      1,
      expect.stringContaining('commands.json could not be written.'),
    ])
  })
})

describe('npm test', () => {
  const argumentsOfJest = async (...args: string[]): Promise<string[]> => {
    put('node_modules/.package-lock.json', lockfile('sha512-one'))
    put('node_modules/jest/bin/jest.js', "process.stdout.write(process.argv.slice(2).join('\\n'))")
    const path = `${inCheckout('path')}:/usr/bin:/bin`
    const launched = launch(process.execPath, [inCheckout('src/bin/launcher/launch.mjs'), 'test', ...args], {
      PATH: path,
    })
    expect(await launched.exit).toBe(0)
    return launched.output().split('\n')
  }

  test('passes a part of a test file, named by its path, to Jest', async () => {
    put('test/noun/part.ts', '')
    const args = ['test/noun/part.ts', '-t', 'a name']
    const testMatches = ['--testMatch=**/*.test.ts', '--testMatch=<rootDir>/test/noun/part.ts']
    expect(await argumentsOfJest(...args)).toEqual([...args, ...testMatches])
  })

  test('passes other arguments to Jest unchanged', async () => {
    put('test/noun.test.ts', '')
    const args = ['test/noun.test.ts', 'test/noun', 'test/noun/nothing.ts']
    expect(await argumentsOfJest(...args)).toEqual(args)
  })
})

describe('the last line of a launch that fails', () => {
  const lastLine = ({ output }: Launched) => output().trim().split('\n').at(-1)

  test('says that there is no npm', async () => {
    const launched = run('openapi', '/nowhere')
    expect(await launched.exit).toBe(1)
    expect(lastLine(launched)).toBe('npm cannot be run (ENOENT); it comes with Node.js.')
  })

  test('says that the network is away', async () => {
    fakeNpm('echo "npm error code ENOTFOUND" >&2; exit 1')
    const launched = run()
    expect(await launched.exit).toBe(1)
    expect(lastLine(launched)).toBe(
      'npm cannot reach its registry (ENOTFOUND): check the network and try again.',
    )
  })

  test('says why npm failed', async () => {
    fakeNpm('printf "npm error code EUSAGE\\nnpm error Missing: near from lock file\\n" >&2; exit 1')
    const launched = run()
    expect(await launched.exit).toBe(1)
    expect(lastLine(launched)).toBe('npm failed: Missing: near from lock file')
  })

  test('lists the commands if the command is unknown', async () => {
    const launched = run('dance')
    expect(await launched.exit).toBe(1)
    const [, list = ''] = /^Say one of: (.+)\.\n$/.exec(launched.output()) ?? []
    const { scripts } = JSON.parse(readFileSync('package.json', 'utf8'))
    const launches = Object.keys(scripts).filter(name => scripts[name].endsWith(`launch.mjs ${name}`))
    expect(launches).toContain('start')
    expect(list.split(', ')).toEqual(expect.arrayContaining(launches))
  })
})
