import { describe, expect, test } from '@jest/globals'
import { challengeOf, signatureOver } from '../../support/control/approvals.ts'
import { intentOf, intentsIn } from '../../support/control/intents.ts'
import { anIntent, bodyOf } from '../../support/factories.ts'
import { startTestService } from '../../support/harness.ts'
import { peopleInConsole } from '../../support/identity/in-console.ts'
import { signed } from '../../support/identity/people.ts'

const service = await startTestService({ own: true })
const { anOwnerWithAgent, eventsOf } = intentsIn(service)

async function anOffice() {
  const owner = await anOwnerWithAgent()
  const [boss, approver, viewer] = await peopleInConsole(service, owner, ['owner', 'approver', 'viewer'])
  const { id } = await anIntent(owner.client, owner.agent.id)
  if (!boss || !approver || !viewer) throw new Error('somebody is missing')
  return { ...owner, boss, approver, viewer, id, params: { id } }
}

describe('a person in the console', () => {
  test('a person approves with their own passkey, and is recorded as the caller', async () => {
    const { client, approver, id, params } = await anOffice()
    expect(await approver.client.intents.approve({ params })).toMatchObject({
      status: 400,
      code: 'attestation_required',
      error: expect.stringContaining('POST /passkeys/intents/{intentId}/challenge'),
    })
    const webauthnAssertion = await signatureOver(approver.client, id, approver)
    const approved = await bodyOf(approver.client.intents.approve({ params, body: { webauthnAssertion } }))
    expect(approved).toMatchObject({
      status: 'approved',
      decidedBy: { type: 'console', id: approver.personId, name: 'Ada the approver' },
    })
    const named = { actorType: 'console', actorId: approver.personId, personId: approver.personId }
    expect((await bodyOf(client.intents.timeline({ params }))).data.at(-1)).toMatchObject(named)
    const proof = await bodyOf(approver.client.intents.approval({ params }))
    expect(proof.openings['person.name']).toMatchObject({ value: 'Ada the approver' })
  })

  test('a challenge belongs to the caller, and only the caller’s passkey is accepted', async () => {
    const { boss, approver, id, params, client } = await anOffice()
    const foreign = await approver.client.intents.challenge({
      params: { intentId: id },
      body: { personId: boss.personId },
    })
    expect(foreign).toMatchObject({ status: 400, code: 'person_mismatch' })
    const own = await challengeOf(approver.client, id)
    expect(own.options.allowCredentials).toMatchObject([{ id: approver.device.credentialId }])
    const approve = (webauthnAssertion: ReturnType<typeof signed>) =>
      approver.client.intents.approve({ params, body: { webauthnAssertion } })
    expect(await approve(signed(own, boss.device))).toMatchObject({ status: 401, code: 'assertion_invalid' })
    // A challenge for any approver, requested by a key, does not work either.
    expect(await approve(signed(await challengeOf(client, id), boss.device))).toMatchObject({
      code: 'assertion_invalid',
    })
    expect((await intentOf(client, id)).status).toBe('created')
  })

  test('denies without a passkey', async () => {
    const { approver, params, id } = await anOffice()
    const denied = await bodyOf(approver.client.intents.deny({ params, body: { reason: 'Too dear' } }))
    expect(denied).toMatchObject({
      status: 'denied',
      decidedBy: { type: 'console', id: approver.personId, name: 'Ada the approver' },
    })
    expect((await eventsOf(id)).at(-1)).toMatchObject({
      event: 'intent.denied',
      data: { personId: approver.personId },
    })
  })

  test('refuses a viewer a challenge and a decision', async () => {
    const { viewer, params, id } = await anOffice()
    const { intents } = viewer.client
    for (const refused of [
      await intents.challenge({ params: { intentId: id }, body: {} }),
      await intents.approve({ params }),
      await intents.deny({ params, body: { reason: 'No' } }),
    ])
      expect(refused).toMatchObject({ status: 403, code: 'missing_scope' })
    expect((await bodyOf(intents.get({ params }))).status).toBe('created')
  })
})
