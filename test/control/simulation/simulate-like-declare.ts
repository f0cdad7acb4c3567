import { describe, expect, test } from '@jest/globals'
import {
  aDelegation,
  anAgentUnder,
  anIntent,
  aPolicy,
  aRun,
  aToken,
  bodyOf,
  redeemDelegation,
  type TestClient,
} from '../../support/factories.ts'
import { startTestService } from '../../support/harness.ts'

const service = await startTestService({ own: true })

interface RequestMembers {
  readonly amountEuros?: number
  readonly country?: string
  readonly runId?: string
}

/** A client, and the request that it simulates and then declares. */
interface Situation {
  readonly by?: TestClient
  readonly members?: RequestMembers
  readonly runInHeader?: string
}

async function anAgentUnderRules(rules: Parameters<typeof anAgentUnder>[1] = {}) {
  const owner = await service.owner()
  const agent = await anAgentUnder(owner.client, { autoApproveLimitEuros: 100, ...rules })
  const declare = (amountEuros: number, members = {}, by: TestClient = owner.client) =>
    anIntent(by, agent.id, { amountEuros, ...members })
  return { ...owner, agent, id: agent.id, params: { id: agent.id }, declare }
}

type Subject = Awaited<ReturnType<typeof anAgentUnderRules>>

/** Requests are counted by their credential and address, also those that only read. */
const COUNTS = `
select table_name as name, (xpath('/row/c/text()', query_to_xml(format('select count(*) as c from %I', table_name),
  false, true, '')))[1]::text::int as rows
from information_schema.tables where table_schema = 'public' and table_type = 'BASE TABLE' and table_name <> 'rate_limits' order by 1`

const storedState = async (agentId: string) => [
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

const withRisk = ({ client }: Subject, signal: string, points: number) =>
  bodyOf(client.risk.configure({ body: { ...only(signal, points), velocityCount: 2 } }))

async function aDelegate({ client, id }: Subject, members: Parameters<typeof aDelegation>[2]) {
  const { token } = await redeemDelegation(service.client(), await aDelegation(client, id, members))
  return service.client(String(token))
}

const withScopes = { scopes: ['intents:write' as const, 'policies:read' as const] }

/** How to set up each situation, and the rules that do not pass in it. */
const situations: [string, bringAbout: (subject: Subject) => Promise<Situation>, notPassing: string[]][] = [
  ['nothing has happened', async () => ({}), []],
  [
    'little is left of the run',
    async ({ client, id, declare }) => {
      const { id: runId } = await aRun(client, id, { budgetEuros: 10 })
      await declare(8, { runId })
      return { members: { runId, amountEuros: 2.01 } }
    },
    ['budget'],
  ],
  [
    'little is left of the run of the header',
    async ({ client, id, declare }) => {
      const { id: runInHeader } = await aRun(client, id, { budgetEuros: 10 })
      await declare(8, { runId: runInHeader })
      return { runInHeader, members: { amountEuros: 2.01 } }
    },
    ['budget'],
  ],
  [
    'the same was declared in the run',
    async ({ client, id, declare }) => {
      const { id: runId } = await aRun(client, id)
      await declare(5, { runId })
      return { members: { runId } }
    },
    ['possibleDuplicate'],
  ],
  [
    'a delegation has little left',
    async subject => {
      const by = await aDelegate(subject, { maxAmountEuros: 10 })
      await subject.declare(6, { merchant: 'Library' }, by)
      return { by }
    },
    ['budget'],
  ],
  [
    'a delegation is bound to another merchant',
    async subject => ({ by: await aDelegate(subject, { maxAmountEuros: 10, merchant: 'Library' }) }),
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
      await bodyOf(client.policies.setBudget({ body: { monthlyLimitEuros: 10 } }))
      await declare(6, { merchant: 'Library' })
      return {}
    },
    ['budget'],
  ],
  [
    'the merchant is new',
    async subject => {
      await withRisk(subject, 'newMerchant', 50)
      return {}
    },
    ['risk'],
  ],
  [
    'it is one spend too many',
    async subject => {
      await withRisk(subject, 'velocity', 80)
      for (const merchant of ['A', 'B']) await subject.declare(1, { merchant })
      return {}
    },
    ['risk'],
  ],
  [
    'no agent can travel that fast',
    async subject => {
      await withRisk(subject, 'impossibleTravel', 95)
      await subject.declare(1, { country: 'DE' })
      return { members: { country: 'US' } }
    },
    ['risk'],
  ],
  [
    'the wallet is frozen',
    async ({ client, agent }) => {
      await bodyOf(client.wallets.update({ params: { id: agent.walletId }, body: { status: 'frozen' } }))
      return {}
    },
    ['walletStatus'],
  ],
  [
    'the policy asks for a passkey',
    async ({ client, id }) => {
      const { id: policyId } = await aPolicy(client, { requireAttestation: true })
      await bodyOf(client.policies.assign({ params: { agentId: id }, body: { policyId } }))
      return {}
    },
    ['requireAttestation'],
  ],
  [
    'the amount is above the limit without a person',
    async () => ({ members: { amountEuros: 100.01 } }),
    ['autoApproveLimitEuros'],
  ],
]

describe('a simulation decides like declaring', () => {
  test.each(situations)('when %s', async (_, bringAbout, notPassing) => {
    const subject = await anAgentUnderRules()
    const { by = subject.client, members, runInHeader } = await bringAbout(subject)
    const body = { agentId: subject.id, amountEuros: 5, merchant: 'Bookshop', ...members }
    const headers: Record<string, string> = runInHeader ? { 'x-run-id': runInHeader } : {}
    const before = await storedState(subject.id)
    const { id, ...simulated } = await bodyOf(by.intents.simulate({ body, headers }))
    expect(await storedState(subject.id)).toEqual(before)
    expect(id).toBeNull()
    const declared = await bodyOf(by.intents.create({ body: { ...body, purpose: 'A paper' }, headers }))
    const { id: _id, ...decision } = declared.decision
    expect(simulated).toEqual(decision)
    const rules = simulated.checks.flatMap(({ rule, outcome }) => (/fail|review/.test(outcome) ? [rule] : []))
    expect(rules).toEqual(notPassing)
  })
})

describe('a simulation is refused like declaring', () => {
  const codesOf = async ({ client, id }: Subject, members: RequestMembers, runInHeader?: string) => {
    const body = { agentId: id, amountEuros: 5, merchant: 'Bookshop', ...members }
    const headers: Record<string, string> = runInHeader ? { 'x-run-id': runInHeader } : {}
    const declared = await client.intents.create({ body: { ...body, purpose: 'P' }, headers })
    const simulated = await client.intents.simulate({ body, headers })
    expect([simulated.status, simulated.code, simulated.error]).toEqual([
      declared.status,
      declared.code,
      declared.error,
    ])
    return simulated.code
  }

  test('in the same words, for a run that is over, of another agent, or named twice', async () => {
    const [own, other] = [await anAgentUnderRules(), await anAgentUnderRules()]
    const { client, id } = own
    const [endedRun, openRun] = [await aRun(client, id), await aRun(client, id)]
    await bodyOf(client.runs.complete({ params: endedRun, body: {} }))
    const foreignRun = await aRun(other.client, other.id)
    expect(await codesOf(own, { runId: endedRun.id })).toBe('run_ended')
    expect(await codesOf(own, { runId: foreignRun.id })).toBe('run_not_found')
    expect(await codesOf(own, { runId: endedRun.id }, openRun.id)).toBe('run_mismatch')
    expect(await codesOf(own, {}, endedRun.id)).toBe('invalid_run')
    const withoutAgent = { policy: { name: 'P' }, amountEuros: 5, merchant: 'Bookshop', runId: openRun.id }
    const refused = await client.intents.simulate({ body: withoutAgent })
    expect([refused.status, refused.error]).toEqual([
      400,
      expect.stringContaining('runId: use runId only with agentId'),
    ])
  })

  test('except for a frozen agent, which is always a decision', async () => {
    const { client, params, id } = await anAgentUnderRules()
    const { id: runId } = await aRun(client, id)
    await bodyOf(client.runs.fail({ params: { id: runId }, body: { reason: 'Over' } }))
    await bodyOf(client.agents.freeze({ params, body: {} }))
    const body = { agentId: id, amountEuros: 5, merchant: 'Bookshop', runId }
    const simulated = await bodyOf(client.intents.simulate({ body }))
    expect(simulated).toMatchObject({ allowed: false, reason: 'The agent is frozen: it cannot spend.' })
    expect((await client.intents.create({ body: { ...body, purpose: 'P' } })).code).toBe('agent_not_active')
  })
})
