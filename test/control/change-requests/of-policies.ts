import { describe, expect, test } from '@jest/globals'
import { statusCounts, times } from '../../support/at-once.ts'
import { aKey, anAgentUnder, bodyOf, type TestClient } from '../../support/factories.ts'
import { startTestService } from '../../support/harness.ts'
import { peopleInConsole } from '../../support/identity/in-console.ts'
import { linkedChallenge, signed } from '../../support/identity/people.ts'

const service = await startTestService({ own: true })

const twoOwners = { aboveEuros: 20, of: 'owners', need: 2, withinMinutes: 60, then: 'deny' } as const

interface Person {
  readonly personId: string
  readonly device: Parameters<typeof signed>[1]
  readonly client: TestClient
}

/** Three owners in the console, and an agent whose payments above € 20.00 two of them approve. */
async function anOffice(steps: readonly object[] = [twoOwners]) {
  const owner = await service.owner()
  const people = await peopleInConsole(service, owner, ['owner', 'owner', 'owner', 'approver'])
  const [ada, bob, eve, clerk] = people as unknown as [Person, Person, Person, Person]
  const agent = await anAgentUnder(owner.client, { dailyLimitEuros: 100, approval: steps as never })
  const policyOf = () => bodyOf(owner.client.policies.effective({ params: { agentId: agent.id } }))
  const { id } = await policyOf()
  const params = { id }
  const rules = { name: 'P', dailyLimitEuros: 100, approval: [twoOwners] }
  return { ...owner, ada, bob, eve, clerk, agent, params, rules, policyOf }
}

type Office = Awaited<ReturnType<typeof anOffice>>

/** What the console does: it asks, signs the challenge of the refusal, and asks again. */
async function signatureOf({ device }: Person, changeId: string, by: TestClient) {
  const asked = await by.changeRequests.approve({ params: { id: changeId }, body: {} })
  return signed(await linkedChallenge(by, asked), device)
}

async function approveBy(person: Person, changeId: string, by = person.client) {
  const webauthnAssertion = await signatureOf(person, changeId, by)
  return by.changeRequests.approve({ params: { id: changeId }, body: { webauthnAssertion } })
}

async function proposedBy(person: Person, { params, rules }: Office, change: object) {
  const body = { ...rules, ...change }
  const asked = await person.client.policies.replace({ params, body })
  const webauthnAssertion = signed(await linkedChallenge(person.client, asked), person.device)
  return person.client.policies.replace({ params, body: { ...body, webauthnAssertion } })
}

const idOf = ({ body }: { readonly body: unknown }): string => (body as { id: string }).id

describe('a change that lets more be spent under a policy with steps', () => {
  test('by a person in the console waits for another one, and is then made', async () => {
    const office = await anOffice()
    const { ada, bob, client, policyOf } = office
    const proposed = await proposedBy(ada, office, { dailyLimitEuros: 200 })
    expect(proposed).toMatchObject({
      status: 202,
      body: {
        status: 'waiting',
        operation: 'policies.replace',
        changes: [{ of: 'agent', field: 'Daily limit', from: '€ 100.00', to: '€ 200.00' }],
        approval: { given: 1, needed: 2, approvals: [{ personId: ada.personId }] },
      },
    })
    expect((await policyOf()).dailyLimitEuros).toBe(100)
    const changeId = idOf(proposed)
    expect(await approveBy(bob, changeId)).toMatchObject({ status: 200, body: { status: 'applied' } })
    expect((await policyOf()).dailyLimitEuros).toBe(200)
    expect((await bodyOf(client.changeRequests.list())).data).toMatchObject([
      { id: changeId, status: 'applied' },
    ])
    expect(await bob.client.changeRequests.approve({ params: { id: changeId }, body: {} })).toMatchObject({
      status: 400,
      code: 'change_request_over',
    })
  })

  test('by a key waits for two people, whichever operation makes it', async () => {
    const office = await anOffice()
    const { client, agent, ada, bob, params, rules, policyOf } = office
    const agentParams = { agentId: agent.id }
    await bodyOf(
      client.policies.toggle({ params: agentParams, body: { field: 'requireIntent', value: true } }),
    )
    const proposals = [
      await client.policies.replace({ params, body: { ...rules, requireIntent: true, approval: [] } }),
      await client.policies.toggle({ params: agentParams, body: { field: 'requireIntent', value: false } }),
      await client.policies.assign({ params: agentParams, body: { policyId: 'standard' } }),
    ]
    expect(proposals.map(({ status, body }) => [status, (body as { operation?: string }).operation])).toEqual(
      [
        [202, 'policies.replace'],
        [202, 'policies.toggle'],
        [202, 'policies.assign'],
      ],
    )
    expect(await policyOf()).toMatchObject({ approval: [twoOwners], requireIntent: true })
    const toggling = idOf(proposals[1] as { body: unknown })
    expect(await approveBy(ada, toggling, client)).toMatchObject({ body: { status: 'waiting' } })
    expect(await approveBy(bob, toggling, client)).toMatchObject({ body: { status: 'applied' } })
    expect(await policyOf()).toMatchObject({ approval: [twoOwners], requireIntent: false })
  })

  test('ends with its agent', async () => {
    const office = await anOffice()
    const { ada, client, agent } = office
    const changeId = idOf(await proposedBy(ada, office, { dailyLimitEuros: 200 }))
    // The last agent with such steps could not be deleted.
    await anAgentUnder(client, { approval: [twoOwners] })
    await bodyOf(client.agents.delete({ params: { id: agent.id } }))
    expect(await bodyOf(client.changeRequests.get({ params: { id: changeId } }))).toMatchObject({
      status: 'outdated',
      reason: 'The agent is being deleted.',
    })
    const ended = await bodyOf(client.events.list({ query: { event: 'change_request.ended' } }))
    expect(ended.data).toMatchObject([{ data: { changeRequestId: changeId, status: 'outdated' } }])
  })

  test('names the people whom other steps would ask', async () => {
    const office = await anOffice()
    const { ada, bob, clerk, client, params, rules } = office
    const of = [ada.personId, clerk.personId]
    const replace = (approval: object[]) =>
      client.policies.replace({ params, body: { ...rules, approval: approval as never } })
    const answer = await replace([{ ...twoOwners, of }])
    expect(answer).toMatchObject({
      status: 202,
      body: {
        changes: [
          {
            field: 'Steps of approval',
            to: expect.stringContaining(
              `2 of (“Ada the owner” ${ada.personId}, “Ada the approver” ${clerk.personId})`,
            ),
          },
        ],
      },
    })
    const other = await replace([{ ...twoOwners, of: [ada.personId, bob.personId] }])
    expect((other.body as never as { changes: object[] }).changes).not.toEqual(
      (answer.body as never as { changes: object[] }).changes,
    )
  })

  test('is not made once the policy is no longer as people have signed', async () => {
    const office = await anOffice()
    const { ada, bob, client, params, rules, policyOf } = office
    const changeId = idOf(await proposedBy(ada, office, { dailyLimitEuros: 200 }))
    await bodyOf(client.policies.replace({ params, body: { ...rules, dailyLimitEuros: 50 } }))
    expect(await approveBy(bob, changeId)).toMatchObject({ status: 409, code: 'change_request_outdated' })
    expect(await bodyOf(client.changeRequests.get({ params: { id: changeId } }))).toMatchObject({
      status: 'outdated',
    })
    expect((await policyOf()).dailyLimitEuros).toBe(50)
  })

  test('asks all that its policy asks more, and keeps what was signed', async () => {
    const office = await anOffice()
    const { client, agent, ada, bob, eve, params, rules, policyOf } = office
    const toggle = (value: boolean) =>
      client.policies.toggle({ params: { agentId: agent.id }, body: { field: 'requireIntent', value } })
    await bodyOf(toggle(true))
    const changeId = idOf(await toggle(false))
    await bodyOf(approveBy(ada, changeId, client))
    const tighter = { ...rules, requireIntent: true, approval: [{ ...twoOwners, need: 3 }] }
    await bodyOf(client.policies.replace({ params, body: tighter }))
    expect(await approveBy(bob, changeId, client)).toMatchObject({
      body: { status: 'waiting', approval: { given: 2, needed: 3 } },
    })
    expect(await approveBy(ada, changeId, client)).toMatchObject({ code: 'already_approved' })
    expect((await policyOf()).requireIntent).toBe(true)
    expect(await approveBy(eve, changeId, client)).toMatchObject({ body: { status: 'applied' } })
    expect((await policyOf()).requireIntent).toBe(false)
  })

  test('is made at once where it only tightens', async () => {
    const { client, params, rules, policyOf } = await anOffice()
    const tighter = { ...rules, dailyLimitEuros: 50, approval: [{ ...twoOwners, need: 3 }] }
    expect((await client.policies.replace({ params, body: tighter })).status).toBe(200)
    expect(await policyOf()).toMatchObject({ dailyLimitEuros: 50, approval: [{ need: 3 }] })
  })

  test('waits for the people of all steps, whom no owner alone can take away', async () => {
    const { client, ada, bob, eve, clerk, params } = await anOffice([])
    const clerks = { ...twoOwners, of: [clerk.personId, eve.personId], need: 2 }
    const alone = { ...twoOwners, aboveEuros: 5_000, of: [ada.personId], need: 1 }
    await bodyOf(client.policies.replace({ params, body: { name: 'P', approval: [clerks, alone] } }))
    const changeId = idOf(
      await proposedBy(ada, { client, params, rules: { name: 'P' } } as never, { approval: [] }),
    )
    const { approval } = await bodyOf(client.changeRequests.get({ params: { id: changeId } }))
    expect(approval).toMatchObject({ given: 1, needed: 3, awaits: [clerk.personId, eve.personId].toSorted() })
    expect(await approveBy(bob, changeId)).toMatchObject({ code: 'approver_not_asked' })
    expect(await approveBy(clerk, changeId)).toMatchObject({ body: { status: 'waiting' } })
    expect(await approveBy(eve, changeId)).toMatchObject({ body: { status: 'applied' } })
    expect((await bodyOf(client.policies.get({ params }))).approval).toEqual([])
  })

  test('waits where a higher step would let fewer people, or others, approve the next change', async () => {
    const office = await anOffice()
    const { ada, client, params, rules, policyOf } = office
    const alone = { ...twoOwners, aboveEuros: 1_000_000, of: [ada.personId], need: 1 }
    const answer = await client.policies.replace({
      params,
      body: { ...rules, approval: [twoOwners, alone] },
    })
    expect(answer.status).toBe(202)
    expect((await policyOf()).approval).toEqual([twoOwners])
  })

  test('does not count the same person twice, nor who is not asked', async () => {
    const office = await anOffice()
    const { ada, clerk } = office
    const changeId = idOf(await proposedBy(ada, office, { dailyLimitEuros: 200 }))
    expect(await approveBy(ada, changeId)).toMatchObject({ status: 400, code: 'already_approved' })
    expect(await approveBy(clerk, changeId)).toMatchObject({ status: 403, code: 'approver_not_asked' })
  })

  test('is not made with a signature over other changes', async () => {
    const office = await anOffice()
    const { ada, bob, client } = office
    const [one, other] = [
      idOf(await proposedBy(ada, office, { dailyLimitEuros: 200 })),
      idOf(await proposedBy(ada, office, { dailyLimitEuros: 300 })),
    ]
    const asked = await bob.client.changeRequests.approve({ params: { id: one }, body: {} })
    const webauthnAssertion = signed(await linkedChallenge(bob.client, asked), bob.device)
    expect(
      await client.changeRequests.approve({ params: { id: other }, body: { webauthnAssertion } }),
    ).toMatchObject({ code: 'statement_outdated' })
  })

  test('finds room for each person, whatever keys propose at once', async () => {
    const { client, ada, ...office } = await anOffice()
    const others = await times(2, () => anAgentUnder(client, { dailyLimitEuros: 100, approval: [twoOwners] }))
    const policies = await times(3, async n =>
      bodyOf(client.policies.effective({ params: { agentId: [office.agent, ...others][n]?.id as string } })),
    )
    const propose = (by: TestClient) => async (n: number) =>
      by.policies.replace({
        params: { id: policies[n % 3]?.id as string },
        body: { ...office.rules, dailyLimitEuros: 200 + n },
      })
    const answers = await times(500, propose(client))
    expect(statusCounts(answers)[202]).toBe(5)
    expect(answers.find(({ status }) => status === 400)).toMatchObject({
      code: 'too_many_changes',
      error: expect.stringContaining('5 changes that you proposed wait already'),
    })
    const keys = await times(2, async () => service.client(String((await aKey(client)).key)))
    expect(statusCounts(await times(20, n => propose(keys[0] as TestClient)(n)))).toEqual({ 202: 5, 400: 15 })
    expect(await propose(keys[1] as TestClient)(1)).toMatchObject({
      error: expect.stringContaining('10 changes that keys proposed wait already'),
    })
    for (let n = 1; n <= 5; n++)
      expect((await proposedBy(ada, { ...office, client, ada }, { dailyLimitEuros: 150 + n })).status).toBe(
        202,
      )
    expect(await proposedBy(ada, { ...office, client, ada }, { dailyLimitEuros: 300 })).toMatchObject({
      code: 'too_many_changes',
    })
    expect((await proposedBy(office.bob, { ...office, client, ada }, { dailyLimitEuros: 300 })).status).toBe(
      202,
    )
  })

  test('ends with one rejection, and after three days', async () => {
    const office = await anOffice()
    const { ada, bob, client } = office
    const params = { id: idOf(await proposedBy(ada, office, { dailyLimitEuros: 200 })) }
    const rejected = await client.changeRequests.reject({ params, body: { reason: 'Too high' } })
    expect(rejected).toMatchObject({ body: { status: 'rejected', reason: 'Too high' } })
    expect(await bob.client.changeRequests.approve({ params, body: {} })).toMatchObject({
      code: 'change_request_over',
    })
    const late = idOf(await proposedBy(ada, office, { dailyLimitEuros: 200 }))
    await bodyOf(client.sandbox.advance({ body: { days: 3 } }))
    expect(await bodyOf(client.changeRequests.get({ params: { id: late } }))).toMatchObject({
      status: 'expired',
      approval: { awaits: [] },
    })
  })

  test('is made once by many approvals at once', async () => {
    const office = await anOffice()
    const { client, ada, bob, eve, params, policyOf } = office
    const changeId = idOf(
      await client.policies.replace({ params, body: { ...office.rules, dailyLimitEuros: 200 } }),
    )
    const before = (await policyOf()).version
    const people = [ada, bob, eve]
    const signatures = await times(12, n => signatureOf(people[n % 3] as Person, changeId, client))
    const answers = await times(12, n =>
      client.changeRequests.approve({
        params: { id: changeId },
        body: { webauthnAssertion: signatures[n] as never },
      }),
    )
    expect(statusCounts(answers)[200]).toBe(2)
    expect((await policyOf()).version).toBe(before + 1)
  })
})
