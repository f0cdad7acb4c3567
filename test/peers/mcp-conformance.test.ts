import { execFile } from 'node:child_process'
import { readdirSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { describe, expect, test } from '@jest/globals'
import { areas } from '../../src/areas.ts'
import { aFundedAgent, aPolicy, aToken, type TestClient } from '../support/factories.ts'
import { startTestService } from '../support/harness.ts'
import { inFrontOf } from '../support/http/in-front.ts'
import { NOT_HAD, notOursIn, oursIn, type Revision } from './mcp-conformance/scenarios.ts'
import { theSuite } from './mcp-conformance/suite.ts'
import { isOfSuite, ownTools } from './mcp-conformance/tasks.ts'
import { called, conformanceArea } from './mcp-conformance/tools.ts'

interface Check {
  readonly id: string
  readonly status: string
  readonly errorMessage?: string
}

const service = await startTestService({ areas: { ...areas, conformance: conformanceArea } })

/**
 * A proxy that adds the credential that the suite does not send, and passes foreign hosts and origins unchanged. The
 * tools of the suite that wait are tools of the service.
 */
async function aWayIn(token: string, client: TestClient): Promise<string> {
  const addressed = (value: string | undefined, own: string, theirs: string) =>
    value?.replace(/^(http:\/\/)?localhost:/, '$1127.0.0.1:') === own ? theirs : value
  const callOwn = ownTools({ url: service.url, token, client })
  const own = await inFrontOf(service.url, (asked, answer, handOn, own) => {
    if (isOfSuite(asked)) return void callOwn(asked, answer)
    const { headers: given } = asked
    const host = addressed(given.host, new URL(own).host, new URL(service.url).host)
    const origin = addressed(given.origin, own, service.url)
    handOn({ ...given, host, authorization: `Bearer ${token}`, ...(origin ? { origin } : {}) })
  })
  return `${own}/mcp`
}

async function aWayInForAnAgent(): Promise<string> {
  const client = (await service.owner()).client as TestClient
  const { id: policyId } = await aPolicy(client, { autoApproveLimitEuros: 1 })
  const agent = await aFundedAgent(client, { policyId })
  return aWayIn(String((await aToken(client, agent.id)).token), client)
}

const [{ folder, program }, url] = await Promise.all([theSuite(), aWayInForAnAgent()])

/** Runs what a revision requires; returns the checks by scenario. */
async function checksOf(revision: string): Promise<Map<string, Check[]>> {
  const results = join(folder, revision)
  const args = ['server', '--url', url, '--requirements', revision, '-o', results]
  // It exits with an error if any check fails; its results say which.
  const options = { cwd: folder, maxBuffer: 100_000_000 }
  await new Promise(resolve => execFile(process.execPath, [program, ...args], options, resolve))
  return new Map(
    readdirSync(results).map(name => [
      name.replace(/^server-(.*)-\d{4}-\d\d-\d\dT.*$/, '$1'),
      JSON.parse(readFileSync(join(results, name, 'checks.json'), 'utf8')) as Check[],
    ]),
  )
}

/** The failed checks, including those that the suite only recommends. */
const failing = (checks: readonly Check[] = []) =>
  checks.filter(({ status }) => status === 'FAILURE' || status === 'WARNING')

/** The test tools that a revision's scenarios call. */
const CALLED: Readonly<Record<Revision, readonly string[]>> = {
  '2026-07-28': [
    'test_error_handling',
    'test_logging_tool',
    'test_simple_text',
    'test_streaming_elicitation',
  ],
  '2025-11-25': ['test_error_handling', 'test_simple_text'],
}

describe('the protocol’s own conformance suite', () => {
  test.each(Object.keys(CALLED) as Revision[])(
    'passes in what concerns us of %s, and has no scenario that nobody has looked at',
    async revision => {
      called.clear()
      const checks = await checksOf(revision)
      expect([...checks.keys()].sort()).toEqual([...oursIn(revision), ...notOursIn(revision)].sort())
      for (const scenario of oursIn(revision)) {
        const made = checks.get(scenario)
        expect([scenario, made?.some(({ status }) => status === 'SUCCESS')]).toEqual([scenario, true])
        const notHad = NOT_HAD[scenario] ?? []
        const unexpected = failing(made).filter(({ id }) => !notHad.includes(id))
        expect([scenario, unexpected]).toEqual([scenario, []])
        expect(failing(made)).toHaveLength(notHad.length)
      }
      expect([...called].sort()).toEqual(CALLED[revision])
    },
    120_000,
  )
})
