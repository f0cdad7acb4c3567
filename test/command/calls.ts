import { readdirSync, readFileSync, statSync, writeFileSync } from 'node:fs'
import { createServer, type IncomingMessage, type ServerResponse } from 'node:http'
import type { AddressInfo } from 'node:net'
import { join } from 'node:path'
import { afterAll, beforeEach, describe, expect, test } from '@jest/globals'
import { createServiceClient } from '../../src/command/calls/caller.ts'
import { readCommandDefinitions } from '../../src/command/table.ts'
import { runCommand } from '../support/command.ts'
import { temporaryFolder } from '../support/processes/folders.ts'

interface Seen {
  readonly method: string | undefined
  readonly url: string | undefined
  readonly headers: IncomingMessage['headers']
  readonly body: string
}

type Play = (response: ServerResponse) => void

/** A service with scripted answers, one per request. */
const plays: Play[] = []
const seen: Seen[] = []
const server = createServer(async (request, response) => {
  const { method, url, headers } = request
  let body = ''
  for await (const piece of request) body += piece
  seen.push({ method, url, headers, body })
  ;(plays.shift() ?? gives(200, {}))(response)
})
await new Promise<void>(resolve => server.listen(0, '127.0.0.1', resolve))
afterAll(() => new Promise(resolve => server.close(resolve)))
const url = `http://127.0.0.1:${(server.address() as AddressInfo).port}`

const gives =
  (status: number, body: unknown, headers: Record<string, string> = {}): Play =>
  response =>
    response.writeHead(status, { 'content-type': 'application/json', ...headers }).end(JSON.stringify(body))
const breaks: Play = response => response.socket?.destroy()
const breaksOff: Play = response => {
  response.writeHead(200, { 'content-type': 'application/json', 'content-length': '100' })
  response.write('{"id":', () => response.socket?.destroy())
}
const later = (status: number, code: string, seconds: number): Play =>
  gives(status, { error: 'Later.' }, { 'retry-after': String(seconds), 'x-error-code': code })

const waits: number[] = []

async function calling(...argv: string[]) {
  return runCommand(argv, {
    env: { AGENTPAY_URL: url, AGENTPAY_KEY: 'sk_test_a', AGENTPAY_DASHBOARD_SECRET: 'secret' },
    wait: async milliseconds => {
      waits.push(milliseconds)
    },
  })
}

const creates = (...more: string[]) => calling('agents', 'create', '--name', 'A', ...more)

describe('a call', () => {
  beforeEach(() => {
    for (const list of [plays, seen, waits]) list.length = 0
  })

  test('that a passkey must sign says how to read what', async () => {
    const link = '</passkeys/challenges/challenge_1>; rel="challenge"'
    plays.push(gives(400, { error: 'Sign it.' }, { 'x-error-code': 'assertion_required', link }))
    const { code, err } = await creates()
    expect([code, err]).toEqual([
      1,
      expect.stringContaining('Sign it. Read it: agentpay passkeys get-challenge challenge_1'),
    ])
  })

  test('of a verification exits with 1 where the answer is not ok', async () => {
    const failed = { ok: false, problems: ['The sum of acct_1 is not its balance.'] }
    plays.push(gives(200, { ok: true, problems: [] }), gives(200, failed))
    expect(await calling('ledger', 'verify')).toMatchObject({ code: 0, err: '' })
    const { code, out, err } = await calling('ledger', 'verify')
    expect([code, JSON.parse(out), err]).toEqual([
      1,
      failed,
      'The verification has failed: the output says where.\n',
    ])
  })

  test('that may be repeated is sent again with the same key when the connection breaks', async () => {
    plays.push(breaks, breaksOff, gives(201, { id: 'agent_1' }))
    expect(await creates()).toMatchObject({ code: 0, out: '{\n  "id": "agent_1"\n}\n' })
    const keys = seen.map(({ headers }) => headers['idempotency-key'])
    expect([keys.length, new Set(keys).size]).toEqual([3, 1])
    expect(keys[0]).toMatch(/^[\w-]{36}$/)
    expect(seen.map(({ body }) => body)).toEqual(Array(3).fill('{"name":"A"}'))
  })

  test('ends with the time that it has, though the service never answers or asks to wait longer', async () => {
    const client = createServiceClient({
      table: readCommandDefinitions(),
      connection: { url, key: 'sk_test_a', dashboardSecret: undefined, source: url },
      io: { ...process, cwd: '.', signal: new AbortController().signal, wait: async () => undefined },
    })
    const read = (withinMs: number) => client.call('intents.get', { params: { id: 'intent_1' }, withinMs })
    plays.push(() => undefined)
    await expect(read(500)).rejects.toMatchObject({
      exitCode: 4,
      message: `${url} cannot be reached: it does not answer. Run \`agentpay doctor\` for details.`,
    })
    plays.push(later(503, 'unavailable', 30))
    expect(await read(20_000)).toMatchObject({ status: 503 })
    expect(seen).toHaveLength(2)
  })

  test('has another key than the call before, or the one that is given', async () => {
    await creates()
    await creates()
    await creates('--idempotency-key', 'mine')
    const keys = seen.map(({ headers }) => headers['idempotency-key'])
    expect([new Set(keys).size, keys[2]]).toEqual([3, 'mine'])
  })

  test('never loses an empty key, as of a variable that is not set: the service refuses it', async () => {
    plays.push(breaks, gives(400, { error: 'Idempotency-Key: 1 to 255 characters.' }))
    expect(await creates('--idempotency-key', '')).toMatchObject({ code: 1 })
    expect(seen.map(({ headers }) => headers['idempotency-key'])).toEqual(['', ''])
  })

  test('does not wait where it may go on, and otherwise refuses not to', async () => {
    plays.push(gives(202, { id: 'mppcredential_1', status: 'waiting' }))
    const paying = ['mpp', 'pay', '--url', 'https://shop.example.com/', '--intent-id', 'intent_1']
    expect(await calling(...paying, '--no-wait')).toMatchObject({ code: 0 })
    expect(seen.map(({ headers }) => headers.prefer)).toEqual(['respond-async'])
    expect(await creates('--no-wait')).toMatchObject({
      code: 2,
      err: expect.stringContaining('agents create always waits for its outcome. Omit --no-wait.'),
    })
  })

  test('asks for CSV where there is one, prints it as it came, and otherwise refuses to', async () => {
    plays.push(answer => answer.writeHead(200, { 'content-type': 'text/csv' }).end('from,name\r\n'))
    const report = ['analytics', 'costs', '--csv']
    expect(await calling(...report)).toMatchObject({ code: 0, out: 'from,name\r\n' })
    plays.push(gives(400, { error: 'to: must not be before from.' }))
    expect(await calling(...report)).toMatchObject({ code: 1, err: expect.stringContaining('to: must not') })
    expect(seen.map(({ headers }) => headers.accept)).toEqual(['text/csv', 'text/csv'])
    expect(await calling('agents', 'list', '--csv')).toMatchObject({
      code: 2,
      err: expect.stringContaining('agents list has no CSV. Omit --csv.'),
    })
  })

  test('that may be repeated and is never answered says that it may have succeeded, unless it only reads', async () => {
    plays.push(...Array(14).fill(breaks))
    const changes = await calling('policies', 'set-budget', '--daily-limit-euros', '5')
    const reads = await calling('agents', 'get', 'agent_1')
    expect([changes, reads].map(({ code, err }) => [code, err.includes('may have succeeded')])).toEqual([
      [4, true],
      [4, false],
    ])
  })

  test('that changes something without a key is not sent again, and says why', async () => {
    plays.push(breaks)
    const { code, err } = await calling('agents', 'update', 'agent_1', '--name', 'B')
    expect([code, seen.length]).toEqual([4, 1])
    expect(err).toMatch(
      /: the connection broke\. The call may have succeeded: check before you repeat it\.\n$/,
    )
  })

  test('gives up when the connection keeps breaking', async () => {
    plays.push(...Array(20).fill(breaks))
    expect((await calling('agents', 'list')).code).toBe(4)
    expect(waits).toEqual([200, 500, 1_000, 2_000, 4_000, 8_000])
  })

  test('waits out a 429 as long as it says, and what is busy', async () => {
    plays.push(later(429, 'rate_limited', 12), later(503, 'unavailable', 2), gives(201, { id: 'agent_1' }))
    expect((await creates()).code).toBe(0)
    expect(waits).toEqual([12_000, 2_000])
  })

  test('without a key waits out a 429, and nothing else', async () => {
    plays.push(later(429, 'rate_limited', 1), later(503, 'outcome_unknown', 1))
    const { code, err } = await calling('agents', 'update', 'agent_1', '--name', 'B')
    expect([code, err, waits]).toEqual([
      1,
      'Rate limit reached: waiting 1 s.\nLater. (outcome_unknown)\n',
      [1_000],
    ])
  })

  test('that is refused ends with 1, and with 3 where the key is not valid', async () => {
    plays.push(gives(404, { error: 'No such agent.' }, { 'x-error-code': 'agent_not_found' }))
    expect(await calling('agents', 'get', 'a')).toEqual({
      code: 1,
      out: '',
      err: 'No such agent. (agent_not_found)\n',
    })
    plays.push(gives(401, { error: 'Send a valid key.' }, { 'x-error-code': 'unauthenticated' }))
    expect((await calling('agents', 'get', 'a')).code).toBe(3)
  })

  test('escapes control characters in a refusal', async () => {
    plays.push(gives(400, { error: 'a\u001b[2J' }, { 'x-error-code': 'bad' }))
    expect((await calling('agents', 'get', 'a')).err).toBe('a\\u001b[2J (bad)\n')
  })

  test('that no service of ours answers is no crash', async () => {
    plays.push(response => response.writeHead(502, { 'content-type': 'text/html' }).end('<h1>Bad gateway'))
    expect(await calling('agents', 'get', 'a')).toMatchObject({
      code: 1,
      err: 'The service answered with status 502. (502)\n',
    })
  })

  test.each<[string, Play, string]>([
    ['a redirection', response => response.writeHead(302, { location: '/login' }).end(), 'status 302'],
    ['a page', response => response.writeHead(200, { 'content-type': 'text/html' }).end('<h1>'), 'not JSON'],
  ])('that %s answers is no success', async (_, play, words) => {
    const env = { AGENTPAY_URL: url, AGENTPAY_KEY: 'sk_test_a' }
    for (const argv of [
      ['agents', 'get', 'a'],
      ['intents', 'approve', 'a'],
      ['agents', 'list', '--all'],
    ]) {
      plays.push(play)
      const { code, out, err } = await runCommand(argv, { env })
      expect([code, out, err]).toEqual([1, '', expect.stringContaining(words)])
    }
  })

  test('for a file that a redirection answers writes none', async () => {
    const cwd = temporaryFolder()
    plays.push(response => response.writeHead(302, { location: '/login' }).end('<h1>'))
    const env = { AGENTPAY_URL: url, AGENTPAY_KEY: 'sk_test_a' }
    const { code } = await runCommand(['statements', 'pdf', 'statement_1', '-o', 'a.pdf'], { env, cwd })
    expect([code, readdirSync(cwd)]).toEqual([1, []])
  })

  test('reports an answer that is not JSON', async () => {
    plays.push(response => response.writeHead(200, { 'content-type': 'application/json' }).end('{'))
    const { code, err } = await calling('agents', 'get', 'a')
    expect([code, err]).toEqual([1, 'The response with status 200 is not JSON.\n'])
  })

  test('that the person interrupts is not made again', async () => {
    const interruption = new AbortController()
    plays.push(() => interruption.abort())
    await expect(
      runCommand(['agents', 'list'], {
        env: { AGENTPAY_URL: url, AGENTPAY_KEY: 'sk_test_a' },
        signal: interruption.signal,
      }),
    ).rejects.toThrow(/abort/)
    expect(seen.length).toBe(1)
  })

  test('follows the pages of a list to its end', async () => {
    const pages = [
      { data: [{ id: 'a' }, { id: 'b' }], hasMore: true, nextCursor: 'one' },
      { data: [{ id: 'c' }], hasMore: false, nextCursor: null },
    ]
    plays.push(...pages.map(page => gives(200, page)))
    const { out } = await calling('agents', 'list', '--status', 'active', '--all')
    expect(JSON.parse(out)).toEqual({
      data: [{ id: 'a' }, { id: 'b' }, { id: 'c' }],
      hasMore: false,
      nextCursor: null,
    })
    expect(seen.map(one => one.url)).toEqual([
      '/agents?limit=100&status=active',
      '/agents?limit=100&status=active&cursor=one',
    ])
    plays.push(gives(200, { data: [], hasMore: false, nextCursor: null }))
    expect(JSON.parse((await calling('agents', 'list', '--all')).out).data).toEqual([])
  })

  test('carries the credential that the operation takes', async () => {
    await calling('agents', 'list')
    await calling('customers', 'list')
    await calling('keys', 'revoke', 'key_1', '--operator')
    await calling('health', 'health')
    expect(seen.map(({ headers }) => [headers.authorization, headers['x-dashboard-secret']])).toEqual([
      ['Bearer sk_test_a', undefined],
      [undefined, 'secret'],
      [undefined, 'secret'],
      [undefined, undefined],
    ])
    expect((await calling('agents', 'list', '--operator')).code).toBe(2)
    expect((await calling('console', 'session')).err).toMatch(/is only for people in the console/)
  })

  test('names its run', async () => {
    await creates('--run', 'run_1')
    expect(seen[0]?.headers['x-run-id']).toBe('run_1')
  })

  test('writes what it gives to a file', async () => {
    const folder = temporaryFolder()
    plays.push(gives(200, { id: 'agent_1' }))
    const env = { AGENTPAY_URL: url, AGENTPAY_KEY: 'sk_test_a' }
    const ran = await runCommand(['agents', 'get', 'agent_1', '-o', 'agent.json'], { env, cwd: folder })
    expect(ran).toEqual({ code: 0, out: '', err: '' })
    expect(readFileSync(join(folder, 'agent.json'), 'utf8')).toContain('agent_1')
    const nowhere = await runCommand(['agents', 'get', 'a', '-o', 'no/such/file'], { env, cwd: folder })
    expect(nowhere).toMatchObject({
      code: 1,
      err: 'The call was made, but no/such/file cannot be written: its folder does not exist.\n',
    })
  })

  test('writes to a file that others may not read so that they still may not', async () => {
    const cwd = temporaryFolder()
    const file = join(cwd, 'key.json')
    writeFileSync(file, '', { mode: 0o600 })
    plays.push(gives(201, { key: 'sk_test_b' }))
    const env = { AGENTPAY_URL: url, AGENTPAY_KEY: 'sk_test_a' }
    const argv = ['keys', 'create', '--environment', 'sandbox', '--name', 'B', '-o', 'key.json']
    expect(await runCommand(argv, { env, cwd })).toMatchObject({ code: 0 })
    expect(readFileSync(file, 'utf8')).toContain('sk_test_b')
    expect((statSync(file).mode & 0o777).toString(8)).toBe('600')
  })

  test('for a file that breaks off leaves the file that was there', async () => {
    const cwd = temporaryFolder()
    writeFileSync(join(cwd, 'jwks.svg'), 'before')
    plays.push(breaksOff)
    const env = { AGENTPAY_URL: url, AGENTPAY_KEY: 'sk_test_a' }
    const { code, err } = await runCommand(['payer-page', 'qr-code', 'a', '-o', 'jwks.svg'], { env, cwd })
    expect([code, err]).toEqual([4, expect.stringContaining('the connection broke')])
    expect(readdirSync(cwd)).toEqual(['jwks.svg'])
    expect(readFileSync(join(cwd, 'jwks.svg'), 'utf8')).toBe('before')
  })

  test('fails at once if no service listens at the address', async () => {
    const env = { AGENTPAY_URL: 'http://127.0.0.1:1', AGENTPAY_KEY: 'sk_test_a' }
    const { code, err } = await runCommand(['agents', 'list'], { env })
    expect([code, err]).toEqual([
      4,
      'http://127.0.0.1:1 cannot be reached: nothing is listening there. Run `agentpay doctor` for details.\n',
    ])
  })

  test('without a key or an address ends with 3 and says what to do', async () => {
    expect((await runCommand(['agents', 'list'])).code).toBe(3)
    const { code, err } = await runCommand(['agents', 'list'], { env: { AGENTPAY_URL: url } })
    expect([code, err]).toEqual([3, 'You are not signed in. Run `agentpay login`, or set AGENTPAY_KEY.\n'])
    expect((await runCommand(['customers', 'list'], { env: { AGENTPAY_URL: url } })).code).toBe(3)
  })
})
