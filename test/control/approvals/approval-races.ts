import { beforeEach, describe, expect, test } from '@jest/globals'
import { minutes } from '../../../src/values/clock.ts'
import { statusCounts, times } from '../../support/at-once.ts'
import { clientAt } from '../../support/client.ts'
import { challengeOf, signatureOver } from '../../support/control/approvals.ts'
import { intentOf, intentsIn } from '../../support/control/intents.ts'
import { aFundedAgent, anIntent, bodyOf, type TestClient } from '../../support/factories.ts'
import { startTestService } from '../../support/harness.ts'
import { assertion, enrolled, signed } from '../../support/identity/people.ts'
import { expectVerifiedLedger } from '../../support/verified-ledger.ts'

/** Both processes have one public address, and so one relying party. */
const service = await startTestService({ env: { PUBLIC_URL: 'http://localhost' } })
const another = await service.another()
// All requests of these tests come from one address, which has one attempt limit.
beforeEach(() => service.sql('delete from wrong_guesses'))
const { eventsOf } = intentsIn(service)

async function anApprover() {
  const owner = await service.owner()
  const agent = await aFundedAgent(owner.client)
  const person = await enrolled(service, owner)
  const clients = [owner.client, clientAt({ url: another, token: owner.key })]
  const at = (index: number): TestClient => clients[index % 2] as TestClient
  return { ...owner, agent, person, at }
}

const proofsOf = (intentId: string) =>
  service.sql('select id from approvals where intent_id = $1', [intentId])
const namesOf = async (intentId: string) => (await eventsOf(intentId)).map(({ event }) => event)

describe('the same signature', () => {
  test('one signature sent to two processes approves once, and the other requests are refused as used', async () => {
    const { client: mine, agent, person, at } = await anApprover()
    for (let round = 0; round < 5; round++) {
      const { id } = await anIntent(mine, agent.id)
      const webauthnAssertion = await signatureOver(mine, id, person)
      const answers = await times(10, n =>
        at(n).intents.approve({ params: { id }, body: { webauthnAssertion } }),
      )
      expect(statusCounts(answers)).toEqual({ 200: 1, 400: 9 })
      expect(answers.flatMap(({ code }) => code ?? [])).toEqual(Array(9).fill('challenge_used'))
      expect(await namesOf(id)).toEqual(['intent.created', 'intent.approved'])
      expect(await proofsOf(id)).toHaveLength(1)
    }
  })

  test('a signature does not approve another request with the same challenge', async () => {
    const { client: mine, agent, person } = await anApprover()
    for (let round = 0; round < 5; round++) {
      const { id } = await anIntent(mine, agent.id)
      const genuine = await signatureOver(mine, id, person)
      const { assertion: signed } = genuine
      const forged = { ...signed, response: { ...signed.response, signature: 'MEUCIQ' } }
      const [first, second] = await times(3, n =>
        mine.intents.approve({
          params: { id },
          body: { webauthnAssertion: n === 2 ? genuine : { ...genuine, assertion: forged } },
        }),
      )
      expect([first?.status, second?.status]).not.toContain(200)
    }
  })

  test('a signature sent for two intents at once approves at most the signed one', async () => {
    const { client: mine, agent, person, at } = await anApprover()
    for (let round = 0; round < 5; round++) {
      const [meant, other] = [await anIntent(mine, agent.id), await anIntent(mine, agent.id)]
      const webauthnAssertion = await signatureOver(mine, meant.id, person)
      const [right, wrong] = await times(2, n =>
        at(n + round).intents.approve({
          params: { id: n === 0 ? meant.id : other.id },
          body: { webauthnAssertion },
        }),
      )
      expect([200, 400]).toContain(right?.status)
      expect(wrong?.status).toBe(400)
      expect((await intentOf(mine, other.id)).status).toBe('created')
      expect((await proofsOf(meant.id)).length).toBe(right?.status === 200 ? 1 : 0)
    }
  })
})

describe('many signatures at once', () => {
  test('approve each their own intent, whichever process they come to, and the ledger agrees', async () => {
    const { client: mine, agent, person, at } = await anApprover()
    const intents = await times(40, n => anIntent(mine, agent.id, { amountEuros: n + 1 }))
    const signatures = await times(40, n => signatureOver(mine, String(intents[n]?.id), person))
    const answers = await times(40, n =>
      at(n).intents.approve({
        params: { id: String(intents[n]?.id) },
        body: { webauthnAssertion: signatures[n] as never },
      }),
    )
    expect(statusCounts(answers)).toEqual({ 200: 40 })
    for (const { id } of intents) expect(await proofsOf(id)).toHaveLength(1)
    await expectVerifiedLedger(mine)
  })
})

describe('a yes by passkey, a no by key and the deadline at one instant', () => {
  test('concurrent decisions lead to exactly one outcome, and the others are refused with it', async () => {
    const winners = new Set<string>()
    for (let round = 0; round < 12; round++) {
      const { client: mine, agent, person, at } = await anApprover()
      const { id } = await anIntent(mine, agent.id, { expiresInMinutes: 1 })
      const webauthnAssertion = signed(await challengeOf(mine, id), person.device)
      // The test clock passes the deadline while the others decide, in a varying order.
      const advance = () => mine.sandbox.advance({ body: { seconds: minutes(1) / 1_000 } })
      const approve = () => at(round).intents.approve({ params: { id }, body: { webauthnAssertion } })
      const deny = () => at(round + 1).intents.deny({ params: { id }, body: { reason: 'No' } })
      const order = [
        [approve, deny, advance],
        [deny, advance, approve],
        [advance, approve, deny],
      ][round % 3] as (typeof approve | typeof deny | typeof advance)[]
      const [leader = approve, ...others] = order
      const first = leader()
      // In the first three rounds each of them starts first once, so that each has won once.
      if (round < 3) await first
      const answers = await Promise.all([first, ...others.map(act => act())])
      const [approved, denied] = [approve, deny].map(act => answers[order.indexOf(act)])
      const { status, decidedBy } = await intentOf(mine, id)
      expect(['approved', 'denied', 'expired']).toContain(status)
      expect(approved?.status === 200).toBe(decidedBy?.type === 'console')
      expect(denied?.status === 200).toBe(decidedBy?.type === 'key')
      winners.add(decidedBy?.type ?? 'deadline')
      const losers = [approved, denied].filter(answer => answer?.status !== 200)
      expect(losers.length).toBeGreaterThan(0)
      for (const loser of losers)
        expect(`${loser?.code} ${loser?.error}`).toMatch(
          /^intent_(expired|not_waiting The intent is already (approved|denied|expired))/,
        )
      // An approval that is not paid by the deadline expires like any other.
      expect((await namesOf(id)).filter(name => name !== 'intent.created').length).toBeLessThanOrEqual(2)
      expect((await proofsOf(id)).length).toBe(approved?.status === 200 ? 1 : 0)
    }
    expect([...winners].sort()).toEqual(['console', 'deadline', 'key'])
  })
})

describe('a person who loses the role, or is removed, between signature and approval', () => {
  test('approves nothing any more', async () => {
    const { client: mine, agent, person, ...owner } = await anApprover()
    const approver = await enrolled(
      service,
      { ...owner, client: mine },
      {
        role: 'approver',
        by: person,
      },
    )
    const { id } = await anIntent(mine, agent.id)
    const webauthnAssertion = await signatureOver(mine, id, approver)
    const { personId } = approver
    const subject = { personId, role: 'viewer' } as const
    const consent = await assertion(mine, person, { purpose: 'invitation', subject })
    const body = { role: 'viewer', webauthnAssertion: consent } as const
    await bodyOf(mine.people.update({ params: { id: personId }, body }))
    const refused = await mine.intents.approve({ params: { id }, body: { webauthnAssertion } })
    expect(refused).toMatchObject({ status: 403, code: 'insufficient_role' })
    const again = await signatureOver(mine, id, approver)
    await bodyOf(mine.people.remove({ params: { id: approver.personId } }))
    const gone = await mine.intents.approve({ params: { id }, body: { webauthnAssertion: again } })
    expect(gone).toMatchObject({ status: 401, code: 'assertion_invalid' })
    expect((await intentOf(mine, id)).status).toBe('created')
  })
})
