import { describe, expect, test } from '@jest/globals'
import { verifyApproval } from '../../../src/derive/client.ts'
import type { PublicKeySet } from '../../../src/ports/public-keys.ts'
import { statusCounts, times } from '../../support/at-once.ts'
import { challengeOf, signatureOver } from '../../support/control/approvals.ts'
import { intentOf, intentsIn } from '../../support/control/intents.ts'
import { aBeneficiary, aKey, anAgentUnder, anIntent, aToken, bodyOf } from '../../support/factories.ts'
import { startTestService } from '../../support/harness.ts'
import { anAssistant } from '../../support/http/assistant.ts'
import { type InConsole, peopleInConsole } from '../../support/identity/in-console.ts'
import { type Enrolled, enrolled, linkedChallenge, signed } from '../../support/identity/people.ts'

const service = await startTestService({ own: true })
const { eventsOf } = intentsIn(service)

interface Step {
  readonly aboveEuros: number
  readonly of: 'owners' | 'approvers' | string[]
  readonly need: number
  readonly withinMinutes: number
  readonly then: 'next' | 'deny'
}

const approvers = (need: number, others: Partial<Step> = {}): Step => ({
  aboveEuros: 20,
  of: 'approvers',
  need,
  withinMinutes: 240,
  then: 'deny',
  ...others,
})
const owners = (need: number, others: Partial<Step> = {}): Step =>
  approvers(need, { of: 'owners', ...others })

/** An owner and two approvers, or as many, each with a passkey; and an agent whose policy has these steps. */
async function aTeam(approval: Step[] | ((team: readonly Enrolled[]) => Step[]), rules = {}, size = 2) {
  const owner = await service.owner()
  const boss = await enrolled(service, owner, { name: 'Ada' })
  const team = [boss]
  for (let n = 0; n < size; n++) team.push(await enrolled(service, owner, { role: 'approver', by: boss }))
  const steps = typeof approval === 'function' ? approval(team) : approval
  const agent = await anAgentUnder(owner.client, { ...rules, approval: steps })
  const { client } = owner
  const approve = async (id: string, { device }: Pick<Enrolled, 'device'>, by = client) =>
    by.intents.approve({
      params: { id },
      body: { webauthnAssertion: await signatureOver(by, id, { device }) },
    })
  const namesOf = async (id: string) => (await eventsOf(id)).map(({ event }) => event)
  const pass = (minutes: number) => bodyOf(client.sandbox.advance({ body: { minutes } }))
  const [, first, second] = team as [Enrolled, Enrolled, Enrolled]
  return { ...owner, boss, first, second, team, agent, approve, namesOf, pass }
}

describe('a policy that asks several people', () => {
  test('approves with the last of them, and holds the money once', async () => {
    const { client, agent, first, second, approve, namesOf } = await aTeam([approvers(2)])
    const { id, approval } = await anIntent(client, agent.id)
    expect(approval).toMatchObject({ given: 0, needed: 2, step: 1, awaits: ['approvers'], approvals: [] })
    expect(await bodyOf(approve(id, first))).toMatchObject({
      status: 'created',
      decidedBy: null,
      approval: { given: 1, needed: 2, approvals: [{ personId: first.personId }] },
    })
    const approved = await bodyOf(approve(id, second))
    expect(approved).toMatchObject({
      status: 'approved',
      decidedBy: { type: 'console', id: second.personId },
      approval: { given: 2, needed: 2, awaits: [], endsAt: null },
    })
    expect(await intentOf(client, id)).toEqual(approved)
    expect(await namesOf(id)).toEqual(['intent.created', 'intent.approval_recorded', 'intent.approved'])
    expect(
      await service.sql('select remaining_cents from ledger_holds where reference_id = $1', [id]),
    ).toEqual([{ remaining_cents: '2500' }])
    expect(await service.sql('select id from recorded_approvals where intent_id = $1', [id])).toEqual([])
  })

  test('gives one proof of all, and of one person the proof as ever', async () => {
    const { client, agent, boss, first, approve } = await aTeam([approvers(2, { aboveEuros: 50 })])
    const keys = (await service.http('GET', '/.well-known/jwks.json')).body as unknown as PublicKeySet
    const proofOf = async (id: string) => bodyOf(client.intents.approval({ params: { id } }))
    const small = await anIntent(client, agent.id)
    expect(await bodyOf(approve(small.id, first))).toMatchObject({ status: 'approved', approval: null })
    const { jws } = await proofOf(small.id)
    expect(JSON.parse(Buffer.from(String(jws.split('.')[0]), 'base64url').toString())).toMatchObject({
      typ: 'intent-approval',
    })
    const large = await anIntent(client, agent.id, { amountEuros: 60 })
    await bodyOf(approve(large.id, first))
    await bodyOf(approve(large.id, boss))
    const proven = verifyApproval(await proofOf(large.id), keys)
    expect(proven).toMatchObject({ intentId: large.id, amountEuros: '60.00', person: { id: boss.personId } })
    expect(proven.approvals.map(({ person }) => person.id)).toEqual([first.personId, boss.personId])
  })

  test('asks its steps in order, for the amounts that exceed them', async () => {
    const { client, agent, boss, first, second, approve } = await aTeam([
      approvers(1, { then: 'next' }),
      owners(1, { aboveEuros: 50 }),
    ])
    const small = await anIntent(client, agent.id)
    expect(await bodyOf(approve(small.id, first))).toMatchObject({ status: 'approved' })
    const { id } = await anIntent(client, agent.id, { amountEuros: 60 })
    expect((await bodyOf(approve(id, first))).approval).toMatchObject({
      given: 1,
      needed: 2,
      step: 2,
      awaits: ['owners'],
    })
    expect(
      await client.intents.challenge({ params: { intentId: id }, body: { personId: second.personId } }),
    ).toMatchObject({
      status: 403,
      code: 'approver_not_asked',
    })
    expect(await bodyOf(approve(id, boss))).toMatchObject({ status: 'approved' })
  })

  test('is gone round neither by the auto-approve limit nor by a key or an operator', async () => {
    const { client, agent, first, approve } = await aTeam([approvers(1)], { autoApproveLimitEuros: 100 })
    const below = await anIntent(client, agent.id, { amountEuros: 20 })
    expect(below).toMatchObject({ status: 'approved', approval: null })
    const { id, status, decision } = await anIntent(client, agent.id)
    expect([status, decision.reason]).toEqual([
      'created',
      'The policy asks for approvals above € 20.00: an approver within 4 hours, else deny.',
    ])
    expect(await client.intents.approve({ params: { id } })).toMatchObject({
      status: 400,
      code: 'attestation_required',
    })
    expect(await bodyOf(approve(id, first))).toMatchObject({ status: 'approved' })
  })

  test('is refused where it names fewer people than it needs', async () => {
    const { client, first, second, params } = { ...(await aTeam([])), params: {} }
    const create = (approval: Step[]) => client.policies.create({ body: { name: 'P', approval }, ...params })
    expect(await create([owners(2)])).toMatchObject({
      status: 400,
      code: 'too_few_approvers',
      error:
        'approval.0.need: 2 people must approve, and 1 of those who are named can: they are active, and approvers or owners. Ask for fewer, name more, or invite them first.',
    })
    expect(await create([approvers(1, { then: 'next' })])).toMatchObject({
      status: 400,
      error: expect.stringContaining('approval.0.then: there is no next step'),
    })
    expect((await create([approvers(2, { of: [first.personId, second.personId] })])).status).toBe(201)
    // An owner and two approvers: no one is left for the owners' step, as a person counts in one.
    expect(await create([approvers(3), owners(1, { aboveEuros: 50 })])).toMatchObject({
      status: 400,
      code: 'too_few_approvers',
      error:
        'approval: all steps together need 4 people, as each counts in one of them, and there are 3. Ask for fewer, name more, or invite them first.',
    })
    expect((await create([approvers(2), owners(1, { aboveEuros: 50 })])).status).toBe(201)
  })
})

describe('a policy that names a person', () => {
  const nobody = 'person_00000000000000000000000000'

  test('is refused with the id of who is no person of the account, through each door', async () => {
    const { client, agent, first, second } = await aTeam([])
    const stranger = (await aTeam([])).first.personId
    const { id } = await bodyOf(client.policies.create({ body: { name: 'P' } }))
    const { id: own } = await bodyOf(client.policies.effective({ params: { agentId: agent.id } }))
    const simulate = (policy: { name: string; approval: Step[] }) =>
      client.intents.simulate({ body: { policy, amountEuros: 30, merchant: 'Shop' } })
    for (const gone of [nobody, stranger]) {
      const approval = [owners(1), approvers(1, { of: [first.personId, second.personId, gone] })]
      const body = { name: 'P', approval }
      const refused = {
        status: 400,
        code: 'unknown_approver',
        error: expect.stringContaining(`approval.1.of.2: ${gone} is no person of this account`),
      }
      expect(await client.policies.create({ body })).toMatchObject(refused)
      for (const policy of [id, own])
        expect(await client.policies.replace({ params: { id: policy }, body })).toMatchObject(refused)
      expect(await simulate(body)).toMatchObject(refused)
    }
  })

  test('who has left keeps its other rules changeable, and goes at once with the next change of its steps', async () => {
    const team = await aTeam(all => [approvers(2, { of: all.map(({ personId }) => personId) })])
    const { client, agent, boss, first, second, approve } = team
    const of = [boss, first].map(({ personId }) => personId)
    const { approval: steps = [], ...policy } = await bodyOf(
      client.policies.effective({ params: { agentId: agent.id } }),
    )
    const waiting = await anIntent(client, agent.id)
    await bodyOf(approve(waiting.id, first))
    await bodyOf(client.people.remove({ params: { id: second.personId } }))
    expect((await intentOf(client, waiting.id)).approval).toMatchObject({ given: 1, awaits: [boss.personId] })
    const replace = (body: object) =>
      client.policies.replace({ params: { id: policy.id }, body: { name: policy.name, ...body } })
    expect(await replace({ approval: steps, dailyLimitEuros: 90 })).toMatchObject({ status: 200 })
    const sooner = { ...steps[0], withinMinutes: 60 }
    expect(await replace({ approval: [sooner], dailyLimitEuros: 90 })).toMatchObject({
      code: 'unknown_approver',
      error: expect.stringContaining(`approval.0.of.2: ${second.personId}`),
    })
    expect(await replace({ approval: [{ ...sooner, of }], dailyLimitEuros: 90 })).toMatchObject({
      status: 200,
    })
    expect(await bodyOf(approve(waiting.id, boss))).toMatchObject({ status: 'approved' })
    expect((await replace({ approval: [{ ...sooner, of: [first.personId] }] })).status).toBe(400)
  })

  test('who has left is given to no agent by a template', async () => {
    const { client, agent, first, second } = await aTeam([])
    const of = [first, second].map(({ personId }) => personId)
    const { id } = await bodyOf(
      client.policies.create({ body: { name: 'P', approval: [approvers(1, { of })] } }),
    )
    await bodyOf(client.people.remove({ params: { id: second.personId } }))
    const refused = {
      code: 'unknown_approver',
      error: expect.stringContaining(`approval.0.of.1: ${second.personId}`),
    }
    const params = { agentId: agent.id }
    expect(await client.policies.assign({ params, body: { policyId: id } })).toMatchObject(refused)
    expect(await client.agents.create({ body: { name: 'New', policyId: id } })).toMatchObject(refused)
  })
})

test('a template that asks more people than are left is neither applied nor given to a new agent', async () => {
  const { client, first } = await aTeam([])
  const body = { name: 'Books', approval: [] as Step[] }
  const { id } = await bodyOf(client.policies.create({ body }))
  const agent = await bodyOf(client.agents.create({ body: { name: 'Reader', policyId: id } }))
  const params = { id }
  await bodyOf(client.policies.replace({ params, body: { ...body, approval: [approvers(3)] } }))
  await bodyOf(client.people.remove({ params: { id: first.personId } }))
  expect(await client.policies.apply({ params, body: {} })).toMatchObject({
    status: 400,
    code: 'too_few_approvers',
  })
  expect(await client.agents.create({ body: { name: 'Writer', policyId: id } })).toMatchObject({
    status: 400,
    code: 'too_few_approvers',
    error: expect.stringContaining(
      'approval.0.need: 3 people must approve, and 2 of those who are named can',
    ),
  })
  expect((await bodyOf(client.agents.list({ query: { name: 'Writer' } }))).data).toEqual([])
  const own = await bodyOf(client.policies.effective({ params: { agentId: agent.id } }))
  expect(own.approval).toEqual([])
})

describe('an approval does not count', () => {
  test('of the same person twice', async () => {
    const { client, agent, first, second, approve } = await aTeam([approvers(2)])
    const { id } = await anIntent(client, agent.id)
    const again = signed(await challengeOf(client, id), first.device)
    await bodyOf(approve(id, first))
    expect(
      await client.intents.approve({ params: { id }, body: { webauthnAssertion: again } }),
    ).toMatchObject({
      status: 400,
      code: 'already_approved',
    })
    expect(await bodyOf(approve(id, second))).toMatchObject({ status: 'approved' })
  })

  test('of who declared the intent in the console, or made the token that declared it', async () => {
    const owner = await service.owner()
    const [boss, approver] = await peopleInConsole(service, owner, ['owner', 'approver'])
    if (!boss || !approver) throw new Error('somebody is missing')
    const agent = await anAgentUnder(owner.client, { approval: [approvers(1)] })
    const own = await anIntent(boss.client, agent.id)
    const refused = { status: 403, code: 'own_request' }
    expect(await boss.client.intents.challenge({ params: { intentId: own.id }, body: {} })).toMatchObject(
      refused,
    )
    const byKey = signed(await challengeOf(owner.client, own.id), boss.device)
    const params = { id: own.id }
    expect(await owner.client.intents.approve({ params, body: { webauthnAssertion: byKey } })).toMatchObject(
      refused,
    )
    const webauthnAssertion = await signatureOver(approver.client, own.id, approver)
    expect(
      await bodyOf(approver.client.intents.approve({ params, body: { webauthnAssertion } })),
    ).toMatchObject({
      status: 'approved',
    })
    const { token } = await aToken(owner.client, agent.id)
    await service.sql('update agent_tokens set person_id = $2 where agent_id = $1', [agent.id, boss.personId])
    const declared = await anIntent(service.client(String(token)), agent.id)
    const challenge = boss.client.intents.challenge({ params: { intentId: declared.id }, body: {} })
    expect(await challenge).toMatchObject(refused)
  })

  test('of who made the delegation whose token declared the intent, whoever redeemed it', async () => {
    const owner = await service.owner()
    const [boss] = (await peopleInConsole(service, owner, ['owner', 'approver'])) as [InConsole, InConsole]
    const agent = await anAgentUnder(owner.client, { approval: [approvers(1)] })
    const body = { agentId: agent.id, maxAmountEuros: 50, expiresInMinutes: 60 }
    const refused = await boss.client.delegations.create({ body })
    const challenge = await linkedChallenge(boss.client, refused)
    const webauthnAssertion = signed(challenge, boss.device)
    const { code } = await bodyOf(boss.client.delegations.create({ body: { ...body, webauthnAssertion } }))
    const { token } = await bodyOf(service.client('').delegations.redeem({ body: { code: String(code) } }))
    const { id: intentId } = await anIntent(service.client(String(token)), agent.id)
    expect(await boss.client.intents.challenge({ params: { intentId }, body: {} })).toMatchObject({
      status: 403,
      code: 'own_request',
    })
  })

  test('of who applied a proposal of the intent with a key of their own', async () => {
    const owner = await service.owner()
    const [boss] = await peopleInConsole(service, owner, ['owner', 'approver'])
    const agent = await anAgentUnder(owner.client, { approval: [approvers(1)] })
    const own = await aKey(owner.client)
    await service.sql('update keys set person_id = $2 where id = $1', [own.id, boss?.personId])
    const { call } = await anAssistant(service.url, String(own.key))
    const input = { agentId: agent.id, amountEuros: 25, merchant: 'Bookshop', purpose: 'A book' }
    const proposed = await call('call_operation', { operation: 'intents.create', input })
    const { id } = proposed.structuredContent.proposal
    const applied = await bodyOf(
      service.client(String(own.key)).proposals.apply({ params: { id }, body: {} }),
    )
    const challenge = boss?.client.intents.challenge({
      params: { intentId: String(applied.resultId) },
      body: {},
    })
    expect(await challenge).toMatchObject({ status: 403, code: 'own_request' })
  })

  test('of a person who has left, neither later nor any more', async () => {
    const { client, agent, boss, first, second, approve, pass } = await aTeam([approvers(2)])
    const { id } = await anIntent(client, agent.id)
    await bodyOf(approve(id, first))
    const late = signed(await challengeOf(client, id), second.device)
    await bodyOf(client.people.remove({ params: { id: first.personId } }))
    await pass(1)
    await bodyOf(client.people.update({ params: { id: second.personId }, body: { name: 'Bob' } }))
    expect(
      await bodyOf(client.intents.approve({ params: { id }, body: { webauthnAssertion: late } })),
    ).toMatchObject({
      status: 'created',
      approval: { given: 1, approvals: [{ personId: second.personId }] },
    })
    expect(await bodyOf(approve(id, boss))).toMatchObject({ status: 'approved' })
  })

  test('once the payee’s account has changed, or the agent was frozen', async () => {
    const { client, agent, boss, first, second, approve } = await aTeam([approvers(2)])
    const beneficiary = await aBeneficiary(client)
    const { id } = await anIntent(client, agent.id, { beneficiaryId: beneficiary.id })
    await bodyOf(approve(id, first))
    await service.sql('update beneficiaries set iban = $2 where id = $1', [
      beneficiary.id,
      'DE02120300000000202051',
    ])
    const { approval } = await bodyOf(approve(id, second))
    expect(approval).toMatchObject({ given: 1, approvals: [{ personId: second.personId }] })
    // Who had approved before gets the question again.
    expect((await eventsOf(id)).at(-1)).toMatchObject({
      event: 'intent.approval_recorded',
      data: { personId: second.personId, beginsStep: true },
    })
    await bodyOf(client.agents.freeze({ params: { id: agent.id } }))
    expect((await intentOf(client, id)).approval).toMatchObject({ given: 0, step: 1 })
    await bodyOf(client.agents.unfreeze({ params: { id: agent.id } }))
    await bodyOf(approve(id, first))
    expect(await bodyOf(approve(id, boss))).toMatchObject({ status: 'approved' })
  })

  test('of an earlier step once the agent has another name: its people are asked anew', async () => {
    const { client, agent, boss, first, approve, namesOf } = await aTeam(([, one]) => [
      approvers(1, { of: [String(one?.personId)] }),
      owners(1),
    ])
    const { id } = await anIntent(client, agent.id)
    await bodyOf(approve(id, first))
    await bodyOf(client.agents.update({ params: { id: agent.id }, body: { name: 'Renamed' } }))
    expect(await approve(id, boss)).toMatchObject({ status: 403, code: 'approver_not_asked' })
    expect((await intentOf(client, id)).approval).toMatchObject({
      given: 0,
      step: 1,
      awaits: [first.personId],
    })
    const recorded = 'select 1 from recorded_approvals where intent_id = $1'
    expect(await service.sql(recorded, [id])).toEqual([])
    await bodyOf(approve(id, first))
    expect(await bodyOf(approve(id, boss))).toMatchObject({ status: 'approved' })
    expect(await namesOf(id)).toEqual([
      'intent.created',
      'intent.approval_recorded',
      'intent.approval_reminder',
      'intent.approval_recorded',
      'intent.approved',
    ])
  })
})

describe('a person who signs again', () => {
  test('approves the payment of an agent that has another name, in the place of what it was', async () => {
    const { client, agent, first, second, approve } = await aTeam([approvers(2)])
    const { id } = await anIntent(client, agent.id)
    await bodyOf(approve(id, first))
    await bodyOf(client.agents.update({ params: { id: agent.id }, body: { name: 'Renamed' } }))
    expect(await bodyOf(approve(id, first))).toMatchObject({
      status: 'created',
      approval: { given: 1, approvals: [{ personId: first.personId }] },
    })
    expect(await bodyOf(approve(id, second))).toMatchObject({ status: 'approved' })
    const keys = (await service.http('GET', '/.well-known/jwks.json')).body as unknown as PublicKeySet
    const proven = verifyApproval(await bodyOf(client.intents.approval({ params: { id } })), keys)
    expect(proven.approvals.map(({ person }) => person.id)).toEqual([first.personId, second.personId])
  })

  test('has one proof where the policy has begun to ask fewer people', async () => {
    const { client, agent, first, approve } = await aTeam([approvers(2)])
    const { id } = await anIntent(client, agent.id)
    await bodyOf(approve(id, first))
    const fewer = `update policies set approval = jsonb_set(approval, '{0,need}', '1'), version = version + 1 where agent_id = $1`
    await service.sql(fewer, [agent.id])
    expect(await bodyOf(approve(id, first))).toMatchObject({ status: 'approved' })
    const { jws } = await bodyOf(client.intents.approval({ params: { id } }))
    expect(JSON.parse(Buffer.from(String(jws.split('.')[0]), 'base64url').toString())).toMatchObject({
      typ: 'intent-approval',
    })
  })
})

describe('a policy that asks more while an intent waits', () => {
  const tighten = async (
    { client, agent }: Pick<Awaited<ReturnType<typeof aTeam>>, 'client' | 'agent'>,
    approval: Step[],
  ) => {
    const { id, name } = await bodyOf(client.policies.effective({ params: { agentId: agent.id } }))
    await bodyOf(client.policies.replace({ params: { id }, body: { name, approval } }))
  }

  test('keeps what was approved, of which a minute less takes nothing away', async () => {
    const { client, agent, first, second, approve, pass } = await aTeam([approvers(2)])
    const { id } = await anIntent(client, agent.id)
    const { approval } = await bodyOf(approve(id, first))
    const signature = await signatureOver(client, id, second)
    await tighten({ client, agent }, [approvers(2, { withinMinutes: 239 })])
    const sooner = Date.parse(String(approval?.endsAt)) - 60_000
    await pass(1)
    const kept = (await intentOf(client, id)).approval
    expect(kept).toMatchObject({ given: 1, needed: 2, approvals: approval?.approvals })
    expect(Date.parse(String(kept?.endsAt))).toBe(sooner)
    const answer = await client.intents.approve({ params: { id }, body: { webauthnAssertion: signature } })
    expect(answer).toMatchObject({ body: { status: 'approved' } })
  })

  test('needs one more then, and has one proof of all', async () => {
    const { client, agent, boss, first, second, approve } = await aTeam([approvers(2)])
    const { id } = await anIntent(client, agent.id)
    await bodyOf(approve(id, first))
    await tighten({ client, agent }, [approvers(3)])
    expect((await bodyOf(approve(id, second))).approval).toMatchObject({ given: 2, needed: 3 })
    expect(await bodyOf(approve(id, boss))).toMatchObject({ status: 'approved' })
    const keys = (await service.http('GET', '/.well-known/jwks.json')).body as unknown as PublicKeySet
    const proven = verifyApproval(await bodyOf(client.intents.approval({ params: { id } })), keys)
    expect(proven.approvals.map(({ person }) => person.id)).toEqual(
      [first, second, boss].map(({ personId }) => personId),
    )
  })
})

describe('the clock', () => {
  test('reminds at half of the time and an hour before its end, and then denies', async () => {
    const { client, agent, first, approve, namesOf, pass } = await aTeam([
      approvers(2, { withinMinutes: 480 }),
    ])
    const { id } = await anIntent(client, agent.id)
    await bodyOf(approve(id, first))
    const seen = ['intent.created', 'intent.approval_recorded']
    const steps = [
      [239, []],
      [2, ['intent.approval_reminder']],
      [178, []],
      [2, ['intent.approval_reminder']],
      [58, []],
      [2, ['intent.denied']],
    ] as const
    for (const [minutes, more] of steps) {
      await pass(minutes)
      seen.push(...more)
      expect(await namesOf(id)).toEqual(seen)
    }
    expect(await intentOf(client, id)).toMatchObject({
      status: 'denied',
      comment: 'Too few people have approved in time, or are left who can: 1 of 2.',
      decidedBy: { type: 'policy' },
    })
  })

  test('reminds once where the clock is moved by several at once', async () => {
    const { client, agent, namesOf, pass } = await aTeam([approvers(2, { withinMinutes: 480 })])
    const { id } = await anIntent(client, agent.id)
    await times(5, () => pass(50))
    expect(await namesOf(id)).toEqual(['intent.created', 'intent.approval_reminder'])
  })

  test('of steps that the policy has got since the declaration begins with the first challenge, and wakes the run', async () => {
    const { client, agent } = await aTeam([])
    const { id, workflowId } = await anIntent(client, agent.id)
    const policy = await bodyOf(client.policies.effective({ params: { agentId: agent.id } }))
    const body = { name: policy.name, approval: [approvers(2)] }
    await bodyOf(client.policies.replace({ params: { id: policy.id }, body }))
    await service.sql('delete from outbox where workflow_id = $1', [workflowId])
    await challengeOf(client, id)
    expect((await intentOf(client, id)).approval).toMatchObject({ given: 0, needed: 2 })
    expect(await service.sql('select 1 from outbox where workflow_id = $1', [workflowId])).toHaveLength(1)
  })

  test('asks the people of the next step as well', async () => {
    const { client, agent, boss, approve, namesOf, pass } = await aTeam(([, one]) => [
      approvers(1, { of: [String(one?.personId)], then: 'next', withinMinutes: 60 }),
      owners(1, { aboveEuros: 1_000 }),
    ])
    const { id } = await anIntent(client, agent.id)
    await pass(61)
    expect(await namesOf(id)).toEqual([
      'intent.created',
      'intent.approval_reminder',
      'intent.approval_escalated',
    ])
    expect((await intentOf(client, id)).approval).toMatchObject({ given: 0, needed: 1, step: 2 })
    expect(await bodyOf(approve(id, boss))).toMatchObject({ status: 'approved' })
  })

  test('asks all anew when the agent is unfrozen, whose freeze has dropped what was approved', async () => {
    const { client, agent, first, approve, namesOf } = await aTeam([approvers(2)])
    const { id } = await anIntent(client, agent.id)
    await bodyOf(approve(id, first))
    await bodyOf(client.agents.freeze({ params: { id: agent.id } }))
    const seen = ['intent.created', 'intent.approval_recorded']
    expect(await namesOf(id)).toEqual(seen)
    await bodyOf(client.agents.unfreeze({ params: { id: agent.id } }))
    expect(await namesOf(id)).toEqual([...seen, 'intent.approval_reminder'])
  })

  test('asks the people of an earlier step again when who had completed it leaves', async () => {
    const { client, agent, boss, first, second, approve, namesOf, pass } = await aTeam(([, one, other]) => [
      approvers(1, { of: [String(one?.personId), String(other?.personId)] }),
      owners(1),
    ])
    const { id } = await anIntent(client, agent.id)
    await bodyOf(approve(id, first))
    await bodyOf(client.people.remove({ params: { id: first.personId } }))
    await pass(1)
    expect((await intentOf(client, id)).approval).toMatchObject({ given: 0, step: 2 })
    expect(await namesOf(id)).toEqual([
      'intent.created',
      'intent.approval_recorded',
      'intent.approval_reminder',
    ])
    await bodyOf(approve(id, second))
    expect(await bodyOf(approve(id, boss))).toMatchObject({ status: 'approved' })
  })

  test('asks about a hundred intents at once when an agent is unfrozen, however many wait', async () => {
    const { client, agent } = await aTeam([approvers(2)])
    const { id } = await anIntent(client, agent.id)
    const copies = `insert into intents select (jsonb_populate_record(i, jsonb_build_object('id', 'intent_' || md5(n::text)))).*
      from intents i, generate_series(1, 120) n where i.id = $1`
    await service.sql(copies, [id])
    await bodyOf(client.agents.freeze({ params: { id: agent.id } }))
    await bodyOf(client.agents.unfreeze({ params: { id: agent.id } }))
    const reminders = `select from events where agent_id = $1 and event = 'intent.approval_reminder'`
    expect(await service.sql(reminders, [agent.id])).toHaveLength(100)
  })

  test('denies at once where too few people are left', async () => {
    const { client, agent, first, pass } = await aTeam(([, one, other]) => [
      approvers(2, { of: [String(one?.personId), String(other?.personId)] }),
    ])
    const { id } = await anIntent(client, agent.id)
    await bodyOf(client.people.remove({ params: { id: first.personId } }))
    await pass(1)
    const declared = await anIntent(client, agent.id)
    await pass(1)
    for (const one of [id, declared.id])
      expect(await intentOf(client, one)).toMatchObject({
        status: 'denied',
        decidedBy: { type: 'policy' },
        comment: 'Too few people have approved in time, or are left who can: 0 of 2.',
      })
  })
})

describe('many people at once', () => {
  test('two of two hundred approvals count, and the money is held once', async () => {
    const { client, agent, team, namesOf } = await aTeam([approvers(2)], {}, 11)
    const { id } = await anIntent(client, agent.id)
    const signatures = await times(200, n =>
      challengeOf(client, id).then(one => signed(one, (team[n % 12] as Enrolled).device)),
    )
    const answers = await times(200, n =>
      client.intents.approve({ params: { id }, body: { webauthnAssertion: signatures[n] as never } }),
    )
    expect(statusCounts(answers)[200]).toBe(2)
    expect(await namesOf(id)).toEqual(['intent.created', 'intent.approval_recorded', 'intent.approved'])
    expect(await service.sql('select 1 from ledger_holds where reference_id = $1', [id])).toHaveLength(1)
    expect(await service.sql('select 1 from approvals where intent_id = $1', [id])).toHaveLength(1)
  })
})
