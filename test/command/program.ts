import { execFile, execFileSync } from 'node:child_process'
import { readFileSync, symlinkSync, writeFileSync } from 'node:fs'
import { join, resolve } from 'node:path'
import { promisify } from 'node:util'
import { describe, expect, test } from '@jest/globals'
import { areas as realAreas } from '../../src/areas.ts'
import { CommandTableFile } from '../../src/command/table.ts'
import { buildCommandTable, serializeCommandTable } from '../../src/derive/commands/command-table.ts'
import { runCommand, runProgram } from '../support/command.ts'
import { startTestService } from '../support/harness.ts'
import { temporaryFolder } from '../support/processes/folders.ts'
import { PAPER_TABLES, papersArea } from '../support/uploading-noun.ts'

const areas = { ...realAreas, papers: papersArea }
const service = await startTestService({ areas, tables: PAPER_TABLES })
const { key, client } = await service.owner()
const env = {
  AGENTPAY_URL: service.url,
  AGENTPAY_KEY: key,
  AGENTPAY_DASHBOARD_SECRET: service.dashboardSecret,
}

const json = async (...argv: string[]) => JSON.parse((await runCommand(argv, { env })).out)

describe('the program', () => {
  test('creates a record, which a pipe gets as JSON', async () => {
    const { code, out, err } = await runProgram(['agents', 'create', '--body', '-', '--name', 'Reader'], {
      env,
      input: '{"metadata":{"team":"research"}}',
    })
    expect([code, err]).toEqual([0, ''])
    const agent = JSON.parse(out)
    expect(agent).toMatchObject({ name: 'Reader', metadata: { team: 'research' } })
    expect((await client.agents.get({ params: { id: agent.id } })).body).toEqual(agent)
  })

  test('prints a refusal and its code to standard error, and exits with 1', async () => {
    expect(await runProgram(['agents', 'get', 'agent_1'], { env })).toEqual({
      code: 1,
      out: '',
      err: 'No such agent. (agent_not_found)\n',
    })
  })

  test('exits with 3 for an invalid key, and with 4 if no service listens', async () => {
    expect((await runProgram(['agents', 'list'], { env: { ...env, AGENTPAY_KEY: 'sk_test_no' } })).code).toBe(
      3,
    )
    expect(
      (await runProgram(['agents', 'list'], { env: { ...env, AGENTPAY_URL: 'http://127.0.0.1:1' } })).code,
    ).toBe(4)
  })

  test('exits with 1 where its output cannot be written, and with 0 where a reader has enough', async () => {
    const run = promisify(execFile)
    const program = `'${process.execPath}' src/bin/launcher/agentpay.mjs --help`
    expect(await run('sh', ['-c', `${program} | head -c 1`])).toEqual({
      stdout: expect.any(String),
      stderr: '',
    })
    await expect(run('sh', ['-c', `${program} > /dev/full`])).rejects.toMatchObject({
      code: 1,
      stderr: 'The output cannot be written: the disk is full.\n',
    })
  })

  test('finds the sandbox of the checkout by itself, and files where it was called', async () => {
    const folder = temporaryFolder()
    writeFileSync(join(folder, 'instance.json'), JSON.stringify({ url: service.url, apiKey: key }))
    writeFileSync(join(folder, 'wallet.json'), '{"name":"From a file"}')
    const called = { npm_lifecycle_event: 'agentpay', INIT_CWD: folder, DATA_DIR: folder }
    const { out } = await runProgram(['wallets', 'create', '--body', '@wallet.json'], { env: called })
    expect(JSON.parse(out)).toMatchObject({ name: 'From a file' })
  })

  test('runs by a link to it, and on an old Node by that of the lockfile', () => {
    const link = join(temporaryFolder(), 'agentpay')
    symlinkSync(resolve('src/bin/launcher/agentpay.mjs'), link)
    const old = "Object.defineProperty(process.versions, 'node', { value: '18.20.0' })"
    for (const options of [[], ['--import', `data:text/javascript,${encodeURIComponent(old)}`]]) {
      const out = execFileSync(process.execPath, [...options, link, 'version'], { encoding: 'utf8' })
      expect(JSON.parse(out)).toEqual({ version: expect.any(String) })
    }
  })

  test('is called agentpay in package.json, and has the mode of a program', () => {
    const { bin, scripts } = JSON.parse(readFileSync('package.json', 'utf8'))
    expect(scripts.agentpay).toContain(bin.agentpay)
    const out = execFileSync(process.execPath, [bin.agentpay, '--version'], { encoding: 'utf8' })
    expect(JSON.parse(out)).toEqual({ version: expect.stringMatching(/^\d+\.\d+\.\d+$/) })
  })
})

describe('against the service', () => {
  test('a flow from an agent to an approved intent', async () => {
    const { id: agentId, walletId } = await json('agents', 'create', '--name', 'Reader')
    await json('fund', 'wallet', walletId, '--amountEuros', '60')
    const intent = await json(
      'intents',
      'create',
      '--agentId',
      agentId,
      '--amountEuros',
      '9.5',
      '--merchant',
      'Bookshop',
      '--purpose',
      'A paper',
    )
    expect(intent).toMatchObject({ agentId, amountEuros: 9.5 })
    const list = await runCommand(['intents', 'list', '--agentId', agentId], {
      env: { ...env, NO_COLOR: '1' },
      columns: 200,
    })
    expect(list.out).toMatch(/^id .*status .*amountEuros/)
    expect(list.out).toContain(intent.id)
    expect(list.out).toMatch(/ 9\.50 /)
  })

  test('a list is followed over its pages', async () => {
    for (let n = 0; n < 3; n++) await client.wallets.create({ body: { name: `W${n}` } })
    const { data } = await json('wallets', 'list', '--limit', '2', '--all')
    expect(new Set(data.map(({ id }: { id: string }) => id)).size).toBe(data.length)
    expect(data.length).toBeGreaterThanOrEqual(3)
  })

  test('the operator sees what is the operator’s', async () => {
    expect((await json('customers', 'list')).data.length).toBeGreaterThan(0)
  })

  test('a repetition with one key has one effect', async () => {
    const create = () => json('wallets', 'create', '--name', 'Once', '--idempotency-key', 'once-1')
    expect((await create()).id).toBe((await create()).id)
  })

  test('a page is downloaded to a file, and never onto a terminal unless it is a text', async () => {
    const folder = temporaryFolder()
    await runCommand(['pages', 'openapi', '-o', 'openapi.json'], { env, cwd: folder })
    expect(JSON.parse(readFileSync(join(folder, 'openapi.json'), 'utf8')).openapi).toBe('3.1.1')
    const shown = await runCommand(['pages', 'docs'], { env, columns: 80 })
    expect([shown.code, shown.out]).toEqual([0, expect.stringMatching(/^<!doctype html>/i)])
    const missing = await runCommand(['statements', 'pdf', 'statement_1', '-o', 'a.pdf'], {
      env,
      cwd: folder,
    })
    expect(missing.code).toBe(1)
  })

  test('what a name holds cannot move the terminal', async () => {
    const { body } = await client.agents.create({ body: { name: 'Evil \u202e name' } })
    const { out } = await runCommand(['agents', 'get', body.id], { env, columns: 80 })
    expect(out).toContain('Evil \\u202e name')
  })
})

describe('a file', () => {
  const table = new CommandTableFile(Buffer.from(serializeCommandTable(buildCommandTable(areas))))
  const PDF = '%PDF-1.4\nsomething\u0000else'
  const files = (cwd: string, argv: readonly string[], input = '') =>
    runCommand(['papers', ...argv], { env, cwd, table, input })

  test('is sent with its name beside the other members, and comes back as it was', async () => {
    const cwd = temporaryFolder()
    writeFileSync(join(cwd, 'the "bill".pdf'), PDF)
    const given = [
      'file',
      '--title',
      'A bill',
      '--pages',
      '2',
      '--authors',
      'Ada',
      '--paper',
      'the "bill".pdf',
    ]
    const { code, out, err } = await files(cwd, given)
    expect([code, err]).toEqual([0, ''])
    const paper = JSON.parse(out)
    expect(paper).toMatchObject({ title: 'A bill', declaredType: 'application/pdf', size: PDF.length })
    expect(paper.name).toMatch(/bill.*\.pdf$/)
    expect(await files(cwd, ['read', paper.id, '--output', 'back.pdf'])).toEqual({
      code: 0,
      out: '',
      err: '',
    })
    expect(readFileSync(join(cwd, 'back.pdf'), 'utf8')).toBe(PDF)
    expect((await files(cwd, ['read', paper.id])).out).toBe(PDF)
  })

  test('comes from standard input, too, and is sent once under one key', async () => {
    const cwd = temporaryFolder()
    const send = () => files(cwd, ['file', '--title', 'B', '--paper', '-', '--idempotency-key', 'b'], PDF)
    const [first, second] = [await send(), await send()]
    expect([first.code, second.out]).toEqual([0, first.out])
  })

  test('reports a file that is missing or refused, and never shows binary content on a terminal', async () => {
    const cwd = temporaryFolder()
    expect(await files(cwd, ['file', '--title', 'C', '--paper', 'no.pdf'])).toMatchObject({
      code: 2,
      err: 'no.pdf does not exist. Names are relative to the current folder.\n',
    })
    expect((await files(cwd, ['file', '--title', 'taken', '--paper', '-'], PDF)).err).toBe(
      'This title is taken. (paper_refused)\n',
    )
    const { id } = JSON.parse((await files(cwd, ['file', '--title', 'D', '--paper', '-'], PDF)).out)
    const shown = await runCommand(['papers', 'read', id], { env, table, columns: 80 })
    expect([shown.code, shown.out, shown.err]).toEqual([2, '', expect.stringContaining('--output <file>')])
  })
})
