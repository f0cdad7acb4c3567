import { type ChildProcess, spawn } from 'node:child_process'
import { afterAll, describe, expect, test } from '@jest/globals'
import { cloneDatabase } from '../../support/database.ts'
import { temporaryFolder } from '../../support/processes/folders.ts'
import { instanceOf } from '../../support/processes/service-process.ts'
import { withConnection } from '../../support/rows.ts'
import { addressOfRun } from '../../support/temporal/access.ts'
import { until } from '../../support/until.ts'

const REWRITTEN = '\r\u001b[2K'

const children: ChildProcess[] = []

afterAll(() => {
  for (const child of children) child.kill('SIGKILL')
})

/** Runs `npm start` in a terminal of util-linux's `script`. */
function startInTerminal(env: Record<string, string>) {
  const { PATH, HOME, XDG_CACHE_HOME, NODE_COMPILE_CACHE } = process.env
  const command = `exec ${process.execPath} src/bin/launcher/launch.mjs start`
  const child = spawn('script', ['-qefc', command, '/dev/null'], {
    env: { PATH, HOME, XDG_CACHE_HOME, NODE_COMPILE_CACHE, TERM: 'xterm', ...env },
    stdio: ['pipe', 'pipe', 'inherit'],
  })
  children.push(child)
  let output = ''
  child.stdout.setEncoding('utf8').on('data', text => {
    output += text
  })
  return {
    output: () => output,
    type: (text: string) => child.stdin.write(text),
    untilOutput: (pattern: RegExp) => until(`${pattern}`, () => pattern.exec(output)),
    exit: new Promise<number | null>(resolve => child.once('close', resolve)),
  }
}

const CTRL_C = '\u0003'

describe('npm start in a terminal', () => {
  test('rewrites one line of progress, and prints a new link on Enter', async () => {
    const dataDir = temporaryFolder()
    const databaseUrl = await cloneDatabase()
    const env = { DATABASE_URL: databaseUrl, TEMPORAL_ADDRESS: addressOfRun() }
    const terminal = startInTerminal({ DATA_DIR: dataDir, PORT: '0', ...env })
    await terminal.untilOutput(/Press Enter for a new link/)
    const { url, signIn } = instanceOf(dataDir)
    const [first = '', second = ''] = terminal.output().split('The service is ready')
    expect(first).toContain(`${REWRITTEN}Preparing the database`)
    expect(first.trimEnd()).not.toContain('\n')
    expect(second).toContain(`\r\n\r\n  ${signIn}\r\n`)

    terminal.type('\r')
    const links = () => [...new Set(terminal.output().match(/http:\/\/localhost:\d+\/login#lnk_[\w-]+/g))]
    await until('a second link', () => links().length === 2)
    const [old, latest] = links().map(link => ({ token: link.split('#')[1] }))
    const redeem = (body: unknown) =>
      fetch(`${url}/console/links/redeem`, {
        method: 'POST',
        headers: { 'content-type': 'application/json', 'sec-fetch-site': 'same-origin' },
        body: JSON.stringify(body),
      })
    const refused = await redeem(old)
    expect([refused.status, await refused.json()]).toEqual([
      410,
      { error: expect.stringContaining('Run agentpay login in the sandbox') },
    ])
    expect((await redeem(latest)).status).toBe(201)

    await withConnection(databaseUrl, connection =>
      connection.query(`update customers set kyc_status = 'verified' where name = 'Sandbox'`),
    )
    terminal.type('\r')
    await until('a link for the verified owner', () => links().length === 3)
    expect((await redeem({ token: links()[2]?.split('#')[1] })).status).toBe(201)
    await terminal.untilOutput(/\r\n\d\d:\d\d:\d\d POST \/console\/links\/redeem 201 \d+ ms\r\n/)
    terminal.type(CTRL_C)
    expect(await terminal.exit).toBe(0)
  })
})
