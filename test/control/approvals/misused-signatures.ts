import { describe, expect, test } from '@jest/globals'
import { approvalsIn, challengeOf, signatureOver } from '../../support/control/approvals.ts'
import { intentOf, intentsIn } from '../../support/control/intents.ts'
import { aBeneficiary, anIntent, aPolicy, bodyOf, type TestClient } from '../../support/factories.ts'
import { startTestService } from '../../support/harness.ts'
import type { Manner } from '../../support/identity/authenticator.ts'
import { enrolled, signed } from '../../support/identity/people.ts'

const service = await startTestService({ own: true })
const { anApprover } = approvalsIn(service)
const { eventsOf } = intentsIn(service)

type Signature = Awaited<ReturnType<typeof signatureOver>>

/** Approves with an invalid signature: nothing is approved, and no proof exists. */
async function refusalOf(client: TestClient, id: string, webauthnAssertion: Signature) {
  const { status, code } = await client.intents.approve({ params: { id }, body: { webauthnAssertion } })
  expect((await intentOf(client, id)).status).toBe('created')
  expect((await eventsOf(id)).map(({ event }) => event)).not.toContain('intent.approved')
  expect(await client.intents.approval({ params: { id } })).toMatchObject({ code: 'approval_not_found' })
  return `${status} ${code}`
}

describe('a right signature', () => {
  test('over € 24 approves no intent of € 25, and over one intent no other', async () => {
    const { client, agent, person } = await anApprover()
    const [signedOne, other, dearer] = [
      await anIntent(client, agent.id, { amountEuros: 24 }),
      await anIntent(client, agent.id, { amountEuros: 24 }),
      await anIntent(client, agent.id, { amountEuros: 25 }),
    ]
    for (const { id } of [dearer, other]) {
      const signature = await signatureOver(client, signedOne.id, person)
      expect(await refusalOf(client, id, signature)).toBe('400 statement_outdated')
      expect(await refusalOf(client, signedOne.id, signature)).toBe('400 challenge_used')
    }
  })

  test('sent for an intent that there is not is used up, too', async () => {
    const { client, agent, person } = await anApprover()
    const { id } = await anIntent(client, agent.id)
    const webauthnAssertion = await signatureOver(client, id, person)
    const params = { id: 'intent_01jd8x2m4ye7k9v0c3q5r6t8wz' }
    const missed = await client.intents.approve({ params, body: { webauthnAssertion } })
    expect(missed).toMatchObject({ status: 404, code: 'intent_not_found' })
    expect(await refusalOf(client, id, webauthnAssertion)).toBe('400 challenge_used')
  })

  test('by the passkey of another account, a viewer or another person approves nothing', async () => {
    const { client, agent, person, ...owner } = await anApprover()
    const { id } = await anIntent(client, agent.id)
    const stranger = await anApprover()
    expect(await refusalOf(client, id, await signatureOver(client, id, stranger.person))).toBe(
      '401 assertion_invalid',
    )
    const foreign = await anIntent(stranger.client, stranger.agent.id)
    const signature = await signatureOver(stranger.client, foreign.id, stranger.person)
    expect(await refusalOf(client, id, signature)).toBe('400 challenge_unknown')
    const viewer = await enrolled(service, { ...owner, client }, { role: 'viewer', by: person })
    expect(await refusalOf(client, id, await signatureOver(client, id, viewer))).toBe('403 insufficient_role')
    const approver = await enrolled(service, { ...owner, client }, { role: 'approver', by: person })
    const meant = await challengeOf(client, id, person.personId)
    expect(await refusalOf(client, id, signed(meant, approver.device))).toBe('401 assertion_invalid')
    const right = await signatureOver(client, id, approver)
    const { decidedBy } = await bodyOf(
      client.intents.approve({ params: { id }, body: { webauthnAssertion: right } }),
    )
    expect(decidedBy).toMatchObject({ id: approver.personId })
  })

  test('over another purpose approves nothing', async () => {
    const { client, agent, person } = await anApprover()
    const { id } = await anIntent(client, agent.id)
    const body = { purpose: 'enrolment', subject: person.personId } as const
    const challenge = await bodyOf(client.passkeys.challenge({ body }))
    expect(await refusalOf(client, id, signed(challenge, person.device))).toBe('400 statement_outdated')
  })

  test.each<[string, Manner]>([
    ['from another origin', { origin: 'https://evil.example' }],
    ['from a frame of another site', { crossOrigin: true }],
    ['for another relying party', { rpId: 'evil.example' }],
    ['without the finger of the person', { isVerified: false }],
    ['of another kind', { type: 'webauthn.create' }],
  ])('%s approves nothing', async (_, manner) => {
    const { client, agent, person } = await anApprover()
    const { id } = await anIntent(client, agent.id)
    expect(await refusalOf(client, id, await signatureOver(client, id, person, manner))).toBe(
      '401 assertion_invalid',
    )
  })

  test('wrong ten times is refused with 429 from then on, and a right one approves', async () => {
    await service.sql('delete from wrong_guesses')
    const { client, agent, person } = await anApprover()
    const { id } = await anIntent(client, agent.id)
    const approve = async (manner: Manner = {}) => {
      const webauthnAssertion = await signatureOver(client, id, person, manner)
      return client.intents.approve({ params: { id }, body: { webauthnAssertion } })
    }
    const wrong = []
    for (let n = 0; n < 11; n++) wrong.push(await approve({ isVerified: false }))
    expect(wrong.map(({ status }) => status)).toEqual([...Array(10).fill(401), 429])
    expect(Number(wrong[10]?.headers.get('retry-after'))).toBeGreaterThan(0)
    expect((await approve()).status).toBe(200)
  })

  test('over something larger than any signature is refused before it is read', async () => {
    const { client, key, agent, person } = await anApprover()
    const { id } = await anIntent(client, agent.id)
    const signature = await signatureOver(client, id, person)
    const long = (length: number) => ({
      webauthnAssertion: {
        ...signature,
        assertion: {
          ...signature.assertion,
          response: { ...signature.assertion.response, clientDataJSON: 'A'.repeat(length) },
        },
      },
    })
    const send = (length: number) =>
      service.http('POST', `/intents/${id}/approve`, { token: key, body: long(length) })
    expect(await send(1_048_576)).toMatchObject({ status: 413 })
    expect(await send(8_193)).toMatchObject({
      status: 400,
      body: { error: expect.stringContaining('clientDataJSON') },
    })
    expect((await intentOf(client, id)).status).toBe('created')
  })
})

describe('a statement is outdated', () => {
  test('once the tolerance is another one, by a changed policy or another one', async () => {
    const { client, agent, person, params } = await anApprover({ amountTolerancePercent: 5 })
    const { id } = await anIntent(client, agent.id)
    const before = await signatureOver(client, id, person)
    const wide = await aPolicy(client, { amountTolerancePercent: 10 })
    await bodyOf(client.policies.assign({ params, body: { policyId: wide.id } }))
    expect(await refusalOf(client, id, before)).toBe('400 statement_outdated')
    const challenge = await challengeOf(client, id)
    expect(challenge.sentence).toContain('at most € 27.50')
    const narrow = await aPolicy(client)
    await bodyOf(client.policies.assign({ params, body: { policyId: narrow.id } }))
    expect(await refusalOf(client, id, signed(challenge, person.device))).toBe('400 statement_outdated')
    const webauthnAssertion = await signatureOver(client, id, person)
    const approved = await client.intents.approve({ params: { id }, body: { webauthnAssertion } })
    expect(approved.status).toBe(200)
  })

  test('is refused after the payee’s account changes, and the signed account is the one that is paid', async () => {
    const { client, agent, person } = await anApprover()
    const beneficiary = await aBeneficiary(client)
    const { id } = await anIntent(client, agent.id, { beneficiaryId: beneficiary.id })
    const before = await signatureOver(client, id, person)
    const moveTo = (iban: string) =>
      bodyOf(client.beneficiaries.update({ params: { id: beneficiary.id }, body: { iban } }))
    await moveTo('FR7630006000011234567890189')
    expect(await refusalOf(client, id, before)).toBe('400 statement_outdated')
    const challenge = await challengeOf(client, id)
    expect(challenge.sentence).toContain('IBAN FR7630006000011234567890189')
    const webauthnAssertion = signed(challenge, person.device)
    await bodyOf(client.intents.approve({ params: { id }, body: { webauthnAssertion } }))
    const pay = () =>
      client.transfers.create({
        body: {
          fromWalletId: agent.walletId,
          beneficiaryId: beneficiary.id,
          amountEuros: 25,
          intentId: id,
        },
      })
    await moveTo('DE89370400440532013000')
    expect(await pay()).toMatchObject({ status: 400, code: 'intent_payee_changed' })
    await moveTo('FR7630006000011234567890189')
    expect((await pay()).status).toBe(201)
  })
})
