import { describe, expect, test } from '@jest/globals'
import { minutes } from '../../../src/values/clock.ts'
import { anApprovedIntent, approvalsIn, challengeOf, signatureOver } from '../../support/control/approvals.ts'
import { intentOf, intentsIn } from '../../support/control/intents.ts'
import { aBeneficiary, aFundedAgent, anIntent, aToken, bodyOf } from '../../support/factories.ts'
import { startTestService } from '../../support/harness.ts'
import { enrolled, signed } from '../../support/identity/people.ts'
import { traceOf, transactionCount } from '../../support/trace.ts'

const service = await startTestService({ own: true })
const { anApprover } = approvalsIn(service)
const { eventsOf, setClock } = intentsIn(service)

describe('the challenge of an intent', () => {
  test('says amount, largest amount and payee, in a sentence and in what is signed', async () => {
    const { client, agent, person } = await anApprover({ amountTolerancePercent: 5 })
    const beneficiary = await aBeneficiary(client)
    const { id } = await anIntent(client, agent.id, { beneficiaryId: beneficiary.id })
    const challenge = await challengeOf(client, id, person.personId)
    expect(challenge.sentence).toBe(
      `Pay € 25.00, at most € 26.25, to “Bäckerei Müller” (IBAN DE89370400440532013000) for the agent “Research assistant”: “A paper on caching” (${id}).`,
    )
    const committed = { sha256: expect.stringMatching(/^[\w-]{43}$/) }
    expect(challenge.statement).toMatchObject({
      kind: 'intent',
      mode: 'test',
      expiresAt: challenge.expiresAt,
      subject: {
        intentId: id,
        agentId: agent.id,
        amountEuros: '25.00',
        largestEuros: '26.25',
        currency: 'EUR',
        payee: { name: committed, iban: committed, walletId: null, requestId: null },
        agentName: committed,
        purpose: committed,
        person: committed,
      },
    })
    expect(challenge.options).toMatchObject({
      userVerification: 'required',
      allowCredentials: [{ id: person.device.credentialId }],
    })
    expect(JSON.stringify([challenge.statement, challenge.options])).not.toMatch(/Müller|DE8937|person_/)
  })

  test('names an intent that waits, of the account and the mode', async () => {
    const { client, agent, person } = await anApprover({ autoApproveLimitEuros: 10 })
    const other = await anApprover()
    const challenge = (intentId: string, by = client) =>
      by.intents.challenge({ params: { intentId }, body: {} })
    const { id } = await anIntent(client, agent.id)
    expect(await challenge(id, other.client)).toMatchObject({ status: 404, code: 'intent_not_found' })
    const approved = await anIntent(client, agent.id, { amountEuros: 1 })
    expect(await challenge(approved.id)).toMatchObject({ status: 400, code: 'intent_not_waiting' })
    const late = await anIntent(client, agent.id, { expiresInMinutes: 1 })
    await setClock(person.owner.ownerId, minutes(2))
    expect(await challenge(late.id)).toMatchObject({ status: 400, code: 'intent_expired' })
    expect((await challenge(id)).status).toBe(201)
  })

  test('is not for agents', async () => {
    const { client, agent } = await anApprover()
    const { id } = await anIntent(client, agent.id)
    const token = service.client(String((await aToken(client, agent.id)).token))
    const answer = await token.intents.challenge({ params: { intentId: id }, body: {} })
    expect(answer).toMatchObject({ status: 403 })
  })
})

describe('an approval with a passkey', () => {
  test('an approval by passkey names the person in intent, event, timeline and audit trail', async () => {
    const { client, agent, person } = await anApprover({ requireAttestation: true })
    const waiting = await anIntent(client, agent.id)
    const webauthnAssertion = await signatureOver(client, waiting.id, person)
    const params = { id: waiting.id }
    const answer = await client.intents.approve({ params, body: { comment: 'Go ahead', webauthnAssertion } })
    expect(answer.body).toEqual({
      ...waiting,
      status: 'approved',
      decidedAt: expect.any(String),
      decidedBy: { type: 'console', id: person.personId, name: 'Ada Lovelace' },
      comment: 'Go ahead',
      decision: expect.objectContaining({ allowed: true, reason: 'A passkey has approved the intent.' }),
      updatedAt: answer.body.decidedAt,
    })
    expect(answer.body.decision.checks).toContainEqual(
      expect.objectContaining({ rule: 'requireAttestation', outcome: 'pass' }),
    )
    expect(await intentOf(client, waiting.id)).toEqual(answer.body)
    expect((await eventsOf(waiting.id)).at(-1)).toMatchObject({
      event: 'intent.approved',
      data: { personId: person.personId, status: 'approved' },
    })
    expect(await traceOf(service, answer)).toMatchObject({ events: ['intent.approved'], entries: 1 })
    expect(await transactionCount(service, answer, 'intents', waiting.id)).toBe(1)
    const timeline = (await bodyOf(client.intents.timeline({ params }))).data
    const audit = (await bodyOf(client.audit.list({ query: { resource: waiting.id } }))).data
    const named = { event: 'intent.approved', actorType: 'key', personId: person.personId }
    expect([timeline.at(-1), audit[0]]).toMatchObject([named, named])
  })

  test.each(['ES256', 'Ed25519', 'RS256'] as const)('counts with %s', async algorithm => {
    const owner = await service.owner()
    const agent = await aFundedAgent(owner.client)
    const person = await enrolled(service, owner, { algorithm })
    const { decidedBy } = await anApprovedIntent(owner.client, agent.id, person)
    expect(decidedBy).toMatchObject({ type: 'console', id: person.personId })
  })

  test('is required from a key only if the policy requires it', async () => {
    const { client, agent, params } = await anApprover({ autoApproveLimitEuros: 0 })
    const { id } = await anIntent(client, agent.id)
    await bodyOf(client.policies.toggle({ params, body: { field: 'requireAttestation', value: true } }))
    expect(await client.intents.approve({ params: { id } })).toMatchObject({ code: 'attestation_required' })
    await bodyOf(client.policies.toggle({ params, body: { field: 'requireAttestation', value: false } }))
    expect((await bodyOf(client.intents.approve({ params: { id } }))).decidedBy).toMatchObject({
      type: 'key',
    })
  })

  test('is within the policy’s window, by the account’s clock', async () => {
    const { client, agent, person, ownerId } = await anApprover({
      requireAttestation: true,
      attestationWindowMinutes: 2,
    })
    const { id } = await anIntent(client, agent.id)
    const webauthnAssertion = await signatureOver(client, id, person)
    await setClock(ownerId, minutes(3))
    const late = await client.intents.approve({ params: { id }, body: { webauthnAssertion } })
    expect(late).toMatchObject({ status: 400, code: 'attestation_required' })
    expect(late.error).toBe('The passkey’s approval is older than 2 minutes.')
    const fresh = await signatureOver(client, id, person)
    expect(
      (await client.intents.approve({ params: { id }, body: { webauthnAssertion: fresh } })).status,
    ).toBe(200)
  })

  test('is refused like any other where money or limits are missing, and the signature is used up', async () => {
    const { client, agent, person } = await anApprover({ maxTransactionEuros: 30 })
    const { id } = await anIntent(client, agent.id)
    const webauthnAssertion = await signatureOver(client, id, person)
    await bodyOf(client.agents.freeze({ params: { id: agent.id } }))
    const approve = () => client.intents.approve({ params: { id }, body: { webauthnAssertion } })
    expect(await approve()).toMatchObject({ status: 400, code: 'agent_not_active' })
    await bodyOf(client.agents.unfreeze({ params: { id: agent.id } }))
    expect(await approve()).toMatchObject({ status: 400, code: 'challenge_used' })
    expect((await intentOf(client, id)).status).toBe('created')
  })

  test('that is repeated with its Idempotency-Key gets the same answer, and approves once', async () => {
    const { client, agent, person } = await anApprover()
    const { id } = await anIntent(client, agent.id)
    const webauthnAssertion = signed(await challengeOf(client, id), person.device)
    const approve = () =>
      client.intents.approve({ params: { id }, body: { webauthnAssertion }, idempotencyKey: 'once' })
    const first = await approve()
    const again = await approve()
    expect([first.status, again.body]).toEqual([200, first.body])
    expect((await eventsOf(id)).map(({ event }) => event)).toEqual(['intent.created', 'intent.approved'])
  })
})
