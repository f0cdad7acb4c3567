import { describe, expect, test } from '@jest/globals'
import {
  aDelegation,
  anAgentUnder,
  anIntent,
  aPolicy,
  aRun,
  aToken,
  made,
  redeemed,
  type TestClient,
} from '../../support/factories.ts'
import { startTestService } from '../../support/harness.ts'

const service = await startTestService()

interface Asked {
  readonly amountEuros?: number
  readonly country?: string
  readonly runId?: string
}

/** Who asks, and for what. */
interface Situation {
  readonly by?: TestClient
  readonly asked?: Asked
  readonly runInHeader?: string
}

async function someone(rules: Parameters<typeof anAgentUnder>[1] = {}) {
  const owner = await service.owner()
  const agent = await anAgentUnder(owner.client, { autoApproveLimitEuros: 100, ...rules })
  const declare = (amountEuros: number, members = {}, by: TestClient = owner.client) =>
    anIntent(by, agent.id, { amountEuros, ...members })
  return { ...owner, agent, id: agent.id, params: { id: agent.id }, declare }
}

type Someone = Awaited<ReturnType<typeof someone>>

const COUNTS = `
select table_name as name, (xpath('/row/c/text()', query_to_xml(format('select count(*) as c from %I', table_name),
  false, true, '')))[1]::text::int as rows
from information_schema.tables where table_schema = 'public' and table_type = 'BASE TABLE' order by 1`

/** What is stored anywhere, and what is counted or remembered of an agent. */
const stored = async (agentId: string) => [
  await service.sql(COUNTS),
  await service.sql('select * from counters where subject = $1 order by period', [agentId]),
  await service.sql('select * from risk_profiles where agent_id = $1', [agentId]),
]

const only = (signal: string, points: number) => ({
  weights: {
    velocity: 0,
    amountOutlier: 0,
    impossibleTravel: 0,
    newMerchant: 0,
    oddHour: 0,
    [signal]: points,
  },
})

const withRisk = ({ client }: Someone, signal: string, points: number) =>
  made(client.risk.configure({ body: { ...only(signal, points), velocityCount: 2 } }))

async function aDelegate({ client, id }: Someone, members: Parameters<typeof aDelegation>[2]) {
  const { token } = await redeemed(service.client(), await aDelegation(client, id, members))
  return service.client(String(token))
}

const withScopes = { scopes: ['intents:write' as const, 'policies:read' as const] }

/** How it has come to this, what is asked then, and which rules are against it. */
const situations: [string, (one: Someone) => Promise<Situation>, against: string[]][] = [
  ['nothing has happened', async () => ({}), []],
  [
    'little is left of the run',
    async ({ client, id, declare }) => {
      const { id: runId } = await aRun(client, id, { budgetEuros: 10 })
      await declare(8, { runId })
      return { asked: { runId, amountEuros: 2.01 } }
    },
    ['budget'],
  ],
  [
    'little is left of the run of the header',
    async ({ client, id, declare }) => {
      const { id: runInHeader } = await aRun(client, id, { budgetEuros: 10 })
      await declare(8, { runId: runInHeader })
      return { runInHeader, asked: { amountEuros: 2.01 } }
    },
    ['budget'],
  ],
  [
    'the same was asked for in the run',
    async ({ client, id, declare }) => {
      const { id: runId } = await aRun(client, id)
      await declare(5, { runId })
      return { asked: { runId } }
    },
    ['possibleDuplicate'],
  ],
  [
    'a delegation has little left',
    async one => {
      const by = await aDelegate(one, { maxAmountEuros: 10 })
      await one.declare(6, { merchant: 'Library' }, by)
      return { by }
    },
    ['budget'],
  ],
  [
    'a delegation is for another merchant',
    async one => ({ by: await aDelegate(one, { maxAmountEuros: 10, merchant: 'Library' }) }),
    ['boundMerchant'],
  ],
  [
    'a token has little left',
    async ({ client, id, declare }) => {
      const { token } = await aToken(client, id, { ...withScopes, maxAmountEuros: 10 })
      const by = service.client(String(token))
      await declare(6, { merchant: 'Library' }, by)
      return { by }
    },
    ['budget'],
  ],
  [
    'the owner has little left for all agents',
    async ({ client, declare }) => {
      await made(client.policies.setBudget({ body: { monthlyLimitEuros: 10 } }))
      await declare(6, { merchant: 'Library' })
      return {}
    },
    ['budget'],
  ],
  [
    'the merchant is new',
    async one => {
      await withRisk(one, 'newMerchant', 50)
      return {}
    },
    ['risk'],
  ],
  [
    'it is one too many',
    async one => {
      await withRisk(one, 'velocity', 80)
      for (const merchant of ['A', 'B']) await one.declare(1, { merchant })
      return {}
    },
    ['risk'],
  ],
  [
    'no two places are that near',
    async one => {
      await withRisk(one, 'impossibleTravel', 95)
      await one.declare(1, { country: 'DE' })
      return { asked: { country: 'US' } }
    },
    ['risk'],
  ],
  [
    'the wallet is frozen',
    async ({ client, agent }) => {
      await made(client.wallets.update({ params: { id: agent.walletId }, body: { status: 'frozen' } }))
      return {}
    },
    ['walletStatus'],
  ],
  [
    'a passkey is wanted',
    async ({ client, id }) => {
      const { id: policyId } = await aPolicy(client, { requireAttestation: true })
      await made(client.policies.assign({ params: { agentId: id }, body: { policyId } }))
      return {}
    },
    ['requireAttestation'],
  ],
  ['it is much', async () => ({ asked: { amountEuros: 100.01 } }), ['autoApproveLimitEuros']],
]

describe('what is simulated is what declaring then decides', () => {
  test.each(situations)('where %s', async (_, bring, against) => {
    const one = await someone()
    const { by = one.client, asked, runInHeader } = await bring(one)
    const body = { agentId: one.id, amountEuros: 5, merchant: 'Bookshop', ...asked }
    const headers: Record<string, string> = runInHeader ? { 'x-run-id': runInHeader } : {}
    const before = await stored(one.id)
    const { id, ...foreseen } = await made(by.intents.simulate({ body, headers }))
    expect(await stored(one.id)).toEqual(before)
    expect(id).toBeNull()
    const declared = await made(by.intents.create({ body: { ...body, purpose: 'A paper' }, headers }))
    const { id: _id, ...decided } = declared.decision
    expect(foreseen).toEqual(decided)
    const rules = foreseen.checks.flatMap(({ rule, outcome }) => (/fail|review/.test(outcome) ? [rule] : []))
    expect(rules).toEqual(against)
  })
})

describe('what declaring refuses', () => {
  const codesOf = async ({ client, id }: Someone, members: Asked, runInHeader?: string) => {
    const body = { agentId: id, amountEuros: 5, merchant: 'Bookshop', ...members }
    const headers: Record<string, string> = runInHeader ? { 'x-run-id': runInHeader } : {}
    const declared = await client.intents.create({ body: { ...body, purpose: 'P' }, headers })
    const simulated = await client.intents.simulate({ body, headers })
    expect([simulated.status, simulated.code, simulated.error]).toEqual([
      ...[declared.status, declared.code, declared.error],
    ])
    return simulated.code
  }

  test('is refused in the same words: a run that is over, another’s, or two of them', async () => {
    const [one, other] = [await someone(), await someone()]
    const { client, id } = one
    const [over, going] = [await aRun(client, id), await aRun(client, id)]
    await made(client.runs.complete({ params: over, body: {} }))
    const foreign = await aRun(other.client, other.id)
    expect(await codesOf(one, { runId: over.id })).toBe('run_over')
    expect(await codesOf(one, { runId: foreign.id })).toBe('run_not_found')
    expect(await codesOf(one, { runId: over.id }, going.id)).toBe('run_mismatch')
    expect(await codesOf(one, {}, over.id)).toBe('invalid_run')
    const alone = { policy: { name: 'P' }, amountEuros: 5, merchant: 'Bookshop', runId: going.id }
    const refused = await client.intents.simulate({ body: alone })
    expect([refused.status, refused.error]).toEqual([400, expect.stringContaining('runId: only an agent')])
  })

  test('is told of an agent that is frozen as a decision, whatever else is over', async () => {
    const { client, params, id } = await someone()
    const { id: runId } = await aRun(client, id)
    await made(client.runs.fail({ params: { id: runId }, body: { reason: 'Over' } }))
    await made(client.agents.freeze({ params, body: {} }))
    const body = { agentId: id, amountEuros: 5, merchant: 'Bookshop', runId }
    const foreseen = await made(client.intents.simulate({ body }))
    expect(foreseen).toMatchObject({ allowed: false, reason: 'The agent is frozen: it cannot spend.' })
    expect((await client.intents.create({ body: { ...body, purpose: 'P' } })).code).toBe('agent_not_active')
  })
})
