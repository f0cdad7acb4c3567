import { describe, expect, test } from '@jest/globals'
import { statusCounts, times } from '../../support/at-once.ts'
import { aCardRequest, aCardWith, getCard, untilIssued } from '../../support/cards/card-requests.ts'
import {
  approvers,
  cardApprovers,
  challengeOfRequest,
  type Step,
  signatureOverRequest,
} from '../../support/cards/several-approvers.ts'
import { anAgentUnder, aToken, bodyOf } from '../../support/factories.ts'
import { startTestService } from '../../support/harness.ts'
import { peopleInConsole } from '../../support/identity/in-console.ts'
import { type Enrolled, signed } from '../../support/identity/people.ts'

const service = await startTestService({ own: true })

type Approval = Step[] | ((team: readonly Enrolled[]) => Step[])
const aTeam = (approval: Approval, size?: number) => cardApprovers(service, approval, size)

describe('a card request whose policy asks several people', () => {
  test('is approved with the last of them, and carried out then', async () => {
    const { client, ask, first, second, approve, namesOf, read } = await aTeam([approvers(2)])
    const { id, approval } = await ask()
    expect(approval).toMatchObject({ given: 0, needed: 2, step: 1, awaits: ['approvers'], approvals: [] })
    expect(await bodyOf(approve(id, first))).toMatchObject({
      status: 'pending',
      answeredBy: null,
      approvedLimits: { monthlyLimitEuros: 50 },
      approval: { given: 1, needed: 2, approvals: [{ personId: first.personId }] },
    })
    await untilIssued(client)
    expect(await read(id)).toMatchObject({ status: 'pending', cardId: null })
    const approved = await bodyOf(approve(id, second, { comment: 'Go ahead' }))
    expect(approved).toMatchObject({
      status: 'approved',
      comment: 'Go ahead',
      answeredBy: { type: 'console', id: second.personId },
      approval: { given: 2, needed: 2, awaits: [], endsAt: null },
    })
    expect(await namesOf(id)).toEqual(['updated', 'approval_recorded', 'updated'])
    await untilIssued(client)
    const { status, cardId } = await read(id)
    expect(status).toBe('issued')
    expect((await getCard(client, String(cardId))).limits.monthlyLimitEuros).toBe(50)
  })

  test('is asked by the highest requested limit, and without a limit in every step', async () => {
    const { client, agent, ask } = await aTeam([
      approvers(1),
      approvers(1, { aboveEuros: 1_000_000, of: 'owners' }),
    ])
    const neededFor = async (limits: object) => (await ask({ limits })).approval?.needed
    expect(await neededFor({ maxTransactionEuros: 20, dailyLimitEuros: 20 })).toBeUndefined()
    expect(await neededFor({ maxTransactionEuros: 5, dailyLimitEuros: 20.01 })).toBe(1)
    expect(await neededFor({})).toBe(2)
    const small = await ask({ limits: { dailyLimitEuros: 20 } })
    expect(await bodyOf(client.cardRequests.approve({ params: { id: small.id }, body: {} }))).toMatchObject({
      status: 'approved',
      approval: null,
      answeredBy: { type: 'key' },
    })
    const card = await aCardWith(client, { dailyLimitEuros: 100 }, agent)
    const ofCard = { type: 'limit_change' as const, cardId: card.id }
    const lower = await ask({ ...ofCard, limits: { dailyLimitEuros: 90 } })
    expect(lower.approval).toBeNull()
    const higher = await ask({ ...ofCard, limits: { dailyLimitEuros: 200 } })
    const { sentence } = await challengeOfRequest(client, higher.id)
    expect(sentence).toMatch(/^Let more be spent\. For the card .*Daily limit from € 100.00.* to € 200.00/)
  })

  test('is approved neither by a key without a person’s signature nor by an operator', async () => {
    const { client, ask, first, approve } = await aTeam([approvers(1)])
    const { id } = await ask()
    const refused = await client.cardRequests.approve({ params: { id }, body: {} })
    expect(refused).toMatchObject({ status: 400, code: 'attestation_required' })
    expect(refused.error).toContain(
      'Have one of them sign the challenge that the header Link of this answer names',
    )
    expect(await bodyOf(approve(id, first))).toMatchObject({
      status: 'approved',
      answeredBy: { type: 'console', id: first.personId },
    })
  })

  test('takes lower limits from the first, and the same ones from the others', async () => {
    const { client, ask, first, second, approve, read } = await aTeam([approvers(2)])
    const { id } = await ask({ limits: { monthlyLimitEuros: 200, maxTransactionEuros: 80 } })
    await bodyOf(approve(id, first, { limits: { monthlyLimitEuros: 50 } }))
    const others = { params: { id }, body: { limits: { monthlyLimitEuros: 40 } } }
    expect(await client.cardRequests.approve(others)).toMatchObject({
      status: 400,
      code: 'limits_differ',
      error:
        'limits.monthlyLimitEuros: the others have approved € 50.00. Leave limits out to approve what they have, or deny the request.',
    })
    expect((await challengeOfRequest(client, id)).sentence).toContain('€ 50.00')
    await bodyOf(approve(id, second, { limits: { monthlyLimitEuros: 50 } }))
    await untilIssued(client)
    const { cardId } = await read(id)
    expect((await getCard(client, String(cardId))).limits).toMatchObject({
      monthlyLimitEuros: 50,
      maxTransactionEuros: 80,
    })
  })

  test('does not take a signature over other limits', async () => {
    const { client, ask, first, read } = await aTeam([approvers(1)])
    const { id } = await ask()
    const lower = { limits: { monthlyLimitEuros: 30 } }
    const webauthnAssertion = await signatureOverRequest(client, id, first, lower)
    expect(await client.cardRequests.approve({ params: { id }, body: { webauthnAssertion } })).toMatchObject({
      status: 400,
      code: 'statement_outdated',
    })
    expect(await read(id)).toMatchObject({ status: 'pending', approval: { given: 0 } })
  })

  test('ends with one denial', async () => {
    const { client, ask, first, second, approve, read } = await aTeam([approvers(2)])
    const { id } = await ask()
    await bodyOf(approve(id, first))
    const signature = await signatureOverRequest(client, id, second)
    await bodyOf(client.cardRequests.deny({ params: { id }, body: { reason: 'One is enough' } }))
    const late = client.cardRequests.approve({ params: { id }, body: { webauthnAssertion: signature } })
    expect((await late).code).toBe('request_not_waiting')
    expect(await read(id)).toMatchObject({ status: 'denied', approvedLimits: null, approval: { given: 1 } })
  })
})

describe('an approval of a card request does not count', () => {
  test('of the same person twice', async () => {
    const { ask, first, second, approve } = await aTeam([approvers(2)])
    const { id } = await ask()
    await bodyOf(approve(id, first))
    expect(await approve(id, first)).toMatchObject({ status: 400, code: 'already_approved' })
    expect(await bodyOf(approve(id, second))).toMatchObject({ status: 'approved' })
  })

  test('of who asked for the card in the console, or made the token that did', async () => {
    const owner = await service.owner()
    const [boss, approver] = await peopleInConsole(service, owner, ['owner', 'approver'])
    if (!boss || !approver) throw new Error('somebody is missing')
    const agent = await anAgentUnder(owner.client, { approval: [approvers(1)] })
    const limits = { monthlyLimitEuros: 50 }
    const own = await aCardRequest(boss.client, agent.id, { limits })
    const refused = { status: 403, code: 'own_request' }
    const params = { id: own.id }
    expect(await boss.client.cardRequests.approve({ params, body: {} })).toMatchObject(refused)
    const byKey = await signatureOverRequest(owner.client, own.id, boss)
    expect(
      await owner.client.cardRequests.approve({ params, body: { webauthnAssertion: byKey } }),
    ).toMatchObject(refused)
    const webauthnAssertion = signed(await challengeOfRequest(approver.client, own.id), approver.device)
    expect(
      await bodyOf(approver.client.cardRequests.approve({ params, body: { webauthnAssertion } })),
    ).toMatchObject({ status: 'approved', answeredBy: { type: 'console', id: approver.personId } })
    const { token } = await aToken(owner.client, agent.id)
    await service.sql('update agent_tokens set person_id = $2 where agent_id = $1', [agent.id, boss.personId])
    const asked = await aCardRequest(service.client(String(token)), agent.id, { limits })
    const answer = boss.client.cardRequests.approve({ params: { id: asked.id }, body: {} })
    expect(await answer).toMatchObject(refused)
  })

  test('of a person whom the step does not ask', async () => {
    const { ask, boss, first, approve } = await aTeam([approvers(1, { of: 'owners' })])
    const { id } = await ask()
    expect(await approve(id, first)).toMatchObject({ status: 403, code: 'approver_not_asked' })
    expect(await bodyOf(approve(id, boss))).toMatchObject({ status: 'approved' })
  })

  test('of a person who has left', async () => {
    const { client, ask, boss, first, second, approve, pass, read } = await aTeam([approvers(2)])
    const { id } = await ask({ limits: { monthlyLimitEuros: 200 } })
    await bodyOf(approve(id, first, { limits: { monthlyLimitEuros: 50 } }))
    await bodyOf(client.people.remove({ params: { id: first.personId } }))
    await pass(1)
    expect(await read(id)).toMatchObject({ approvedLimits: null, approval: { given: 0 } })
    await bodyOf(approve(id, second, { limits: { monthlyLimitEuros: 60 } }))
    expect(await bodyOf(approve(id, boss))).toMatchObject({
      status: 'approved',
      approvedLimits: { monthlyLimitEuros: 60 },
    })
  })

  test('once the agent was frozen, and does where the steps ask more', async () => {
    const { client, agent, ask, first, second, approve, read } = await aTeam([approvers(2)])
    const { id } = await ask()
    await bodyOf(approve(id, first))
    await bodyOf(client.agents.freeze({ params: { id: agent.id } }))
    expect(await read(id)).toMatchObject({ approvedLimits: null, approval: { given: 0, step: 1 } })
    await bodyOf(client.agents.unfreeze({ params: { id: agent.id } }))
    await bodyOf(approve(id, first))
    const policy = await bodyOf(client.policies.effective({ params: { agentId: agent.id } }))
    const body = { name: policy.name, approval: [approvers(2, { withinMinutes: 120 })] }
    await bodyOf(client.policies.replace({ params: { id: policy.id }, body }))
    expect(await bodyOf(approve(id, second))).toMatchObject({
      status: 'approved',
      approval: { given: 2, approvals: [{ personId: first.personId }, { personId: second.personId }] },
    })
  })
})

describe('the clock of a card request', () => {
  test('asks all anew when the agent is unfrozen', async () => {
    const { client, agent, ask, namesOf } = await aTeam([approvers(2)])
    const { id } = await ask()
    await bodyOf(client.agents.freeze({ params: { id: agent.id } }))
    await bodyOf(client.agents.unfreeze({ params: { id: agent.id } }))
    expect(await namesOf(id)).toEqual(['updated', 'approval_reminder'])
  })

  test('asks anew when a person who has approved leaves', async () => {
    const { client, ask, first, approve, namesOf, pass } = await aTeam([approvers(2)])
    const { id } = await ask()
    await bodyOf(approve(id, first))
    await bodyOf(client.people.remove({ params: { id: first.personId } }))
    await pass(1)
    expect(await namesOf(id)).toEqual(['updated', 'approval_recorded', 'approval_reminder'])
  })

  test('reminds at half of the time and an hour before its end, and then denies', async () => {
    const { ask, first, approve, namesOf, pass, read } = await aTeam([approvers(2, { withinMinutes: 480 })])
    const { id } = await ask()
    await bodyOf(approve(id, first))
    const seen = ['updated', 'approval_recorded']
    const steps = [
      [239, []],
      [2, ['approval_reminder']],
      [178, []],
      [2, ['approval_reminder']],
      [58, []],
      [2, ['updated']],
    ] as const
    for (const [minutes, more] of steps) {
      await pass(minutes)
      seen.push(...more)
      expect(await namesOf(id)).toEqual(seen)
    }
    expect(await read(id)).toMatchObject({
      status: 'denied',
      comment: 'Too few people have approved in time, or are left who can: 1 of 2.',
      answeredBy: { type: 'policy', id: expect.stringMatching(/^policy_/), name: null },
    })
  })

  test('asks the people of the next step as well', async () => {
    const { ask, boss, approve, namesOf, pass, read } = await aTeam(([, one]) => [
      approvers(1, { of: [String(one?.personId)], then: 'next', withinMinutes: 60 }),
      approvers(1, { of: 'owners', aboveEuros: 1_000 }),
    ])
    const { id } = await ask()
    await pass(61)
    expect(await namesOf(id)).toEqual(['updated', 'approval_reminder', 'approval_escalated'])
    expect((await read(id)).approval).toMatchObject({ given: 0, needed: 1, step: 2 })
    expect(await bodyOf(approve(id, boss))).toMatchObject({ status: 'approved' })
  })

  test('denies at once where too few people are left, and expires where no one answers within 72 hours', async () => {
    const { client, ask, first, pass, read } = await aTeam(([, one, other]) => [
      approvers(2, { of: [String(one?.personId), String(other?.personId)] }),
    ])
    const { id } = await ask()
    await bodyOf(client.people.remove({ params: { id: first.personId } }))
    await pass(1)
    expect(await read(id)).toMatchObject({ status: 'denied', answeredBy: { type: 'policy' } })
    const slow = await aTeam([approvers(1, { withinMinutes: 30 * 24 * 60 })])
    const waiting = await slow.ask()
    await slow.pass(72 * 60)
    expect((await slow.read(waiting.id)).status).toBe('expired')
  })
})

describe('many people at once', () => {
  test('two of 12 approve the request once', async () => {
    const { client, ask, team, namesOf } = await aTeam([approvers(2)], 11)
    const { id } = await ask()
    const signatures = await times(36, n =>
      challengeOfRequest(client, id).then(one => signed(one, (team[n % 12] as Enrolled).device)),
    )
    const answers = await times(36, n =>
      client.cardRequests.approve({ params: { id }, body: { webauthnAssertion: signatures[n] as never } }),
    )
    expect(statusCounts(answers)[200]).toBe(2)
    expect(await namesOf(id)).toEqual(['updated', 'approval_recorded', 'updated'])
  })
})
