import { describe, expect, test } from '@jest/globals'
import { challengeOf, signatureOver } from '../../support/control/approvals.ts'
import { intentOf } from '../../support/control/intents.ts'
import { anAgentUnder, anIntent, bodyOf, type TestClient } from '../../support/factories.ts'
import { startTestService } from '../../support/harness.ts'
import { type InConsole, nameDeputy, peopleInConsole } from '../../support/identity/in-console.ts'
import { type Enrolled, signed } from '../../support/identity/people.ts'

const service = await startTestService({ own: true })

const DAY_MINUTES = 24 * 60

type Approving = Pick<Enrolled, 'device'>

/** An owner and four approvers in the console, and an agent whose policy asks so many of the named places. */
async function aTeam(asked: readonly number[] | 'approvers', need = 1) {
  const owner = await service.owner()
  const { client } = owner
  const roles = ['owner', 'approver', 'approver', 'approver', 'approver'] as const
  const team = (await peopleInConsole(service, owner, roles)) as [
    InConsole,
    InConsole,
    InConsole,
    InConsole,
    InConsole,
  ]
  const of = asked === 'approvers' ? asked : asked.map(place => String(team[place]?.personId))
  const step = { aboveEuros: 10, of, need, withinMinutes: 30 * DAY_MINUTES, then: 'deny' as const }
  const agent = await anAgentUnder(client, { approval: [step] })
  const [boss, ada, bob, carl, dora] = team
  const pass = (minutes: number) => bodyOf(client.sandbox.advance({ body: { minutes } }))
  return { ...owner, boss, ada, bob, carl, dora, agent, pass }
}

const send = (client: TestClient, id: string, webauthnAssertion: ReturnType<typeof signed>) =>
  client.intents.approve({ params: { id }, body: { webauthnAssertion } })

const approve = async (client: TestClient, id: string, by: Approving) =>
  send(client, id, await signatureOver(client, id, by))

const askedFor = (client: TestClient, id: string, { personId }: InConsole) =>
  client.intents.challenge({ params: { intentId: id }, body: { personId } })

describe('the deputy of a person who is asked', () => {
  test('approves in their place, which the intent and its proof say', async () => {
    const { client, agent, ada, bob, carl } = await aTeam([1, 2], 2)
    await nameDeputy(ada, carl, { by: bob })
    const { id } = await anIntent(client, agent.id)
    const recorded = await bodyOf(approve(client, id, carl))
    expect(recorded.approval).toMatchObject({
      given: 1,
      approvals: [{ personId: carl.personId, inPlaceOf: ada.personId }],
    })
    const approved = await bodyOf(approve(client, id, bob))
    expect(approved).toMatchObject({
      status: 'approved',
      approval: {
        approvals: [
          { personId: carl.personId, inPlaceOf: ada.personId },
          { personId: bob.personId, inPlaceOf: null },
        ],
      },
    })
    expect(await intentOf(client, id)).toEqual(approved)
    const { openings } = await bodyOf(client.intents.approval({ params: { id } }))
    const signers = Object.entries(openings).flatMap(([place, { value }]) =>
      place.endsWith('person.id') ? [value] : [],
    )
    expect(signers).toEqual([carl.personId, bob.personId])
  })

  test('takes the place of the person, and the person that of the deputy', async () => {
    const { client, agent, ada, bob, carl } = await aTeam([1, 2], 2)
    await nameDeputy(ada, carl, { by: bob })
    const refused = { status: 400, code: 'already_approved' }
    const byDeputy = await anIntent(client, agent.id)
    const late = signed(await challengeOf(client, byDeputy.id), ada.device)
    await bodyOf(approve(client, byDeputy.id, carl))
    expect(await send(client, byDeputy.id, late)).toMatchObject(refused)
    expect(await askedFor(client, byDeputy.id, ada)).toMatchObject(refused)
    const byPerson = await anIntent(client, agent.id)
    await bodyOf(approve(client, byPerson.id, ada))
    expect(await askedFor(client, byPerson.id, carl)).toMatchObject(refused)
    expect(await bodyOf(approve(client, byPerson.id, bob))).toMatchObject({ status: 'approved' })
  })

  test('counts once, also for two people, and for themselves where they are asked', async () => {
    const { client, agent, ada, bob, carl } = await aTeam([1, 2], 2)
    await nameDeputy(ada, carl, { by: bob })
    await nameDeputy(bob, carl, { by: ada })
    const { id } = await anIntent(client, agent.id)
    const again = signed(await challengeOf(client, id), carl.device)
    await bodyOf(approve(client, id, carl))
    expect(await send(client, id, again)).toMatchObject({ status: 400, code: 'already_approved' })
    expect((await intentOf(client, id)).approval).toMatchObject({ given: 1 })
    const all = await aTeam('approvers', 2)
    await nameDeputy(all.ada, all.bob, { by: all.bob })
    const own = await anIntent(all.client, all.agent.id)
    expect((await bodyOf(approve(all.client, own.id, all.bob))).approval).toMatchObject({
      approvals: [{ personId: all.bob.personId, inPlaceOf: null }],
    })
    expect(await bodyOf(approve(all.client, own.id, all.ada))).toMatchObject({ status: 'approved' })
  })

  test('of who made the request does not approve in their place, nor do they for others', async () => {
    const { agent, client, boss, ada, carl } = await aTeam([0, 1])
    await nameDeputy(boss, carl)
    await nameDeputy(ada, boss)
    const { id } = await anIntent(boss.client, agent.id)
    const refused = { status: 403, code: 'own_request' }
    expect(await askedFor(client, id, carl)).toMatchObject(refused)
    expect(await askedFor(client, id, boss)).toMatchObject(refused)
    const byCarl = signed(await challengeOf(client, id), carl.device)
    expect(await send(client, id, byCarl)).toMatchObject(refused)
    await nameDeputy(boss, ada, { inDays: 8 })
    expect(await bodyOf(approve(client, id, ada))).toMatchObject({ status: 'approved' })
  })
})

describe('a deputy', () => {
  test('approves only while the span runs by the account’s clock', async () => {
    const { client, agent, ada, carl, dora, pass } = await aTeam([1])
    await nameDeputy(ada, carl, { inDays: 2 })
    const { id } = await anIntent(client, agent.id, { expiresInMinutes: 20 * DAY_MINUTES })
    const notAsked = { status: 403, code: 'approver_not_asked' }
    const early = signed(await challengeOf(client, id), carl.device)
    expect(await send(client, id, early)).toMatchObject(notAsked)
    expect(await askedFor(client, id, carl)).toMatchObject(notAsked)
    await pass(3 * DAY_MINUTES)
    const during = await askedFor(client, id, carl)
    expect([during.status, (await askedFor(client, id, dora)).status]).toEqual([201, 403])
    await pass(7 * DAY_MINUTES)
    expect(await askedFor(client, id, carl)).toMatchObject(notAsked)
  })

  test('who was ended approves no more, and what they have approved stays until one of both leaves', async () => {
    const { client, agent, ada, bob, carl, dora } = await aTeam([1, 2], 2)
    const { id: recordId } = await nameDeputy(ada, carl, { by: bob })
    const { id } = await anIntent(client, agent.id)
    await bodyOf(approve(client, id, carl))
    await ada.client.deputies.end({ params: { id: ada.personId, recordId } })
    expect((await intentOf(client, id)).approval).toMatchObject({ given: 1 })
    const next = await anIntent(client, agent.id)
    expect(await askedFor(client, next.id, carl)).toMatchObject({ code: 'approver_not_asked' })
    await nameDeputy(bob, dora, { by: ada })
    await bodyOf(client.people.remove({ params: { id: carl.personId } }))
    expect((await bodyOf(approve(client, id, dora))).approval).toMatchObject({
      given: 1,
      approvals: [{ personId: dora.personId, inPlaceOf: bob.personId }],
    })
    expect(await bodyOf(approve(client, id, ada))).toMatchObject({ status: 'approved' })
  })

  test('and the person at once approve once', async () => {
    const { client, agent, ada, carl } = await aTeam([1])
    await nameDeputy(ada, carl)
    for (let round = 0; round < 5; round++) {
      const { id } = await anIntent(client, agent.id)
      const signatures = await Promise.all(
        [ada, carl].map(async ({ device }) => signed(await challengeOf(client, id), device)),
      )
      const answers = await Promise.all(signatures.map(signature => send(client, id, signature)))
      expect(answers.map(({ status }) => status).sort()).toEqual([200, 400])
      expect((await intentOf(client, id)).approval?.approvals).toHaveLength(1)
    }
    const two = await aTeam([1, 2], 2)
    await nameDeputy(two.ada, two.carl, { by: two.bob })
    const { id } = await anIntent(two.client, two.agent.id)
    const signatures = await Promise.all(
      [two.ada, two.carl].map(async ({ device }) => signed(await challengeOf(two.client, id), device)),
    )
    const answers = await Promise.all(signatures.map(signature => send(two.client, id, signature)))
    expect(answers.map(({ status, code }) => [status, code]).sort()).toEqual([
      [200, undefined],
      [400, 'already_approved'],
    ])
    expect(await bodyOf(approve(two.client, id, two.bob))).toMatchObject({ status: 'approved' })
  })
})
