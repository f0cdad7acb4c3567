import { execFile } from 'node:child_process'
import { readdirSync, readFileSync, writeFileSync } from 'node:fs'
import { createServer, request } from 'node:http'
import type { AddressInfo } from 'node:net'
import { join } from 'node:path'
import { afterAll, describe, expect, test } from '@jest/globals'
import { aFundedAgent, aPolicy, aToken } from '../support/factories.ts'
import { startTestService } from '../support/harness.ts'
import { runNpm } from '../support/packages/installed.ts'
import { temporaryFolder } from '../support/processes/folders.ts'

const SUITE = '@modelcontextprotocol/conformance'
const VERSION = '0.2.0-alpha.12'

/** The scenarios that concern this service, in each revision of the protocol: all of their checks have to pass. */
const OURS = {
  '2026-07-28': [
    'caching',
    'dns-rebinding-protection',
    'http-header-validation',
    'input-required-result-ignore-extra-params',
    'input-required-result-missing-input-response',
    'input-required-result-unsupported-methods',
    'input-required-result-validate-input',
    'prompts-list',
    'resources-list',
    'sep-2164-resource-not-found',
    'server-sse-multiple-streams',
    'tools-call-error',
    'tools-list',
  ],
  '2025-11-25': [
    'dns-rebinding-protection',
    'ping',
    'prompts-list',
    'resources-list',
    'server-initialize',
    'tools-call-error',
    'tools-list',
  ],
} as const

/**
 * Checks of the scenario about a server without sessions that ask for what this one does not have: a tool of the suite's own,
 * and subscriptions, as nothing is sent that was not asked for.
 */
const NOT_HAD = [
  'sep-2575-missing-capability-http-400',
  'sep-2575-server-rejects-undeclared-capability',
  'sep-2575-server-sends-subscription-ack',
  'sep-2575-server-tags-subscription-id',
]

interface Check {
  readonly id: string
  readonly status: string
  readonly errorMessage?: string
}

const service = await startTestService()

/** The suite sends no credential: a way to the service that adds one, and leaves a foreign host or origin as it is. */
async function aWayIn(token: string): Promise<string> {
  const addressed = (value: string | undefined, own: string, theirs: string) =>
    value?.replace(/^(http:\/\/)?localhost:/, '$1127.0.0.1:') === own ? theirs : value
  const server = createServer((asked, answer) => {
    const own = `127.0.0.1:${(server.address() as AddressInfo).port}`
    const host = addressed(asked.headers.host, own, new URL(service.url).host)
    const origin = addressed(asked.headers.origin, `http://${own}`, service.url)
    const headers = {
      ...asked.headers,
      host,
      authorization: `Bearer ${token}`,
      ...(origin ? { origin } : {}),
    }
    const sent = request(new URL(asked.url ?? '/', service.url), { method: asked.method, headers }, given => {
      answer.writeHead(given.statusCode ?? 500, given.headers)
      given.pipe(answer)
    })
    sent.on('error', () => answer.destroy())
    asked.pipe(sent)
  })
  await new Promise<void>(resolve => server.listen(0, '127.0.0.1', resolve))
  afterAll(() => {
    server.closeAllConnections()
    server.close()
  })
  return `http://127.0.0.1:${(server.address() as AddressInfo).port}/mcp`
}

async function aWayInForAnAgent(): Promise<string> {
  const { client } = await service.owner()
  const agent = await aFundedAgent(client, { policyId: (await aPolicy(client)).id })
  return aWayIn(String((await aToken(client, agent.id)).token))
}

/** The suite, installed by npm in an empty folder. */
async function theSuite(): Promise<string> {
  const folder = temporaryFolder()
  writeFileSync(join(folder, 'package.json'), '{ "private": true }')
  await runNpm(['install', `${SUITE}@${VERSION}`, '--ignore-scripts', '--no-audit', '--no-fund'], folder)
  return folder
}

const [folder, url] = await Promise.all([theSuite(), aWayInForAnAgent()])

/** Runs what a revision requires; gives the checks by scenario. */
async function checksOf(revision: string): Promise<Map<string, Check[]>> {
  const results = join(folder, revision)
  const program = join(folder, 'node_modules', SUITE, 'dist/index.js')
  const args = ['server', '--url', url, '--requirements', revision, '-o', results]
  // It ends with an error where any check fails: which ones is read from its results.
  const options = { cwd: folder, maxBuffer: 100_000_000 }
  await new Promise(resolve => execFile(process.execPath, [program, ...args], options, resolve))
  return new Map(
    readdirSync(results).map(name => [
      name.replace(/^server-(.*)-\d{4}-\d\d-\d\dT.*$/, '$1'),
      JSON.parse(readFileSync(join(results, name, 'checks.json'), 'utf8')) as Check[],
    ]),
  )
}

const failing = (checks: readonly Check[] = []) => checks.filter(({ status }) => status === 'FAILURE')

describe('the protocol’s own conformance suite', () => {
  test.each(Object.entries(OURS))(
    'passes in what concerns us of %s',
    async (revision, scenarios) => {
      const checks = await checksOf(revision)
      for (const scenario of scenarios) {
        expect([scenario, checks.get(scenario)?.length ?? 0]).not.toEqual([scenario, 0])
        expect([scenario, failing(checks.get(scenario))]).toEqual([scenario, []])
      }
      if (revision !== '2026-07-28') return
      const ids = failing(checks.get('server-stateless')).map(({ id }) => id)
      expect(new Set(ids)).toEqual(new Set(NOT_HAD))
    },
    120_000,
  )
})
