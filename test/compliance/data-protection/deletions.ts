import { describe, expect, test } from '@jest/globals'
import { verifyAudit } from '../../../src/derive/client.ts'
import { newId } from '../../../src/values/ids.ts'
import { times } from '../../support/at-once.ts'
import { sealTrail } from '../../support/compliance/trail.ts'
import { aBeneficiary, bodyOf } from '../../support/factories.ts'
import { assertion, enrolled } from '../../support/identity/people.ts'
import { type AnOwner, aDeletedPayee, advance, ask, MARK, read, textsOf } from './asking.ts'
import { service } from './service.ts'

const trailOf = async ({ key }: AnOwner) =>
  (await service.http('GET', '/v1/audit/export', { token: key })).text

describe('a deletion', () => {
  test('waits seven days, then forgets a payee in records and trail, and every proof still verifies', async () => {
    const owner = await service.owner()
    const subject = await aDeletedPayee(owner)
    const before = await trailOf(owner)
    const { note: since } = await bodyOf(owner.client.audit.checkpoint())
    const made = await bodyOf(ask(owner, subject))
    expect(made).toMatchObject({ status: 'requested', subject, waitsFor: [], completedAt: null })
    expect(new Date(made.answerBy) > new Date(made.beginsAt)).toBe(true)
    await sealTrail(service)
    await advance(owner, { days: 6 })
    expect(await textsOf(owner, 'beneficiaries')).toContain(MARK)
    await advance(owner, { days: 2 })
    expect(await read(owner, made.id)).toMatchObject({ status: 'completed', records: expect.any(Number) })
    expect(await textsOf(owner, 'beneficiaries', 'events', 'audit_seals', 'idempotency_keys')).not.toMatch(
      /Mark Erased|mark@example/,
    )
    await sealTrail(service)
    expect(await bodyOf(owner.client.audit.verify())).toMatchObject({ ok: true, problem: null })
    const keys = (await service.http('GET', '/.well-known/jwks.json')).body
    const after = await trailOf(owner)
    expect([before.includes(MARK), after.includes(MARK)]).toEqual([true, false])
    expect(await verifyAudit([after], { keys, since })).toMatchObject({ hidden: 0 })
  })

  test('emits events for its request, cancellation and completion', async () => {
    const owner = await service.owner()
    const subject = await aDeletedPayee(owner)
    const first = await bodyOf(ask(owner, subject))
    const cancelled = await bodyOf(owner.client.gdpr.cancelDeletion({ params: { id: first.id } }))
    expect(cancelled).toMatchObject({ status: 'cancelled', cancelledAt: expect.anything() })
    await advance(owner, { days: 8 })
    expect(await textsOf(owner, 'beneficiaries')).toContain(MARK)
    const second = await bodyOf(ask(owner, subject))
    await sealTrail(service)
    await advance(owner, { days: 8 })
    expect(await read(owner, second.id)).toMatchObject({ status: 'completed' })
    expect(await owner.client.gdpr.cancelDeletion({ params: { id: second.id } })).toMatchObject({
      status: 400,
      code: 'deletion_begun',
    })
    const { data } = await bodyOf(owner.client.events.list({ query: { limit: 100 } }))
    expect(data.map(({ event }) => event).filter(event => event.startsWith('gdpr.'))).toEqual([
      'gdpr.deletion_completed',
      'gdpr.deletion_requested',
      'gdpr.deletion_cancelled',
      'gdpr.deletion_requested',
    ])
  })

  test('is created once by concurrent requests', async () => {
    const owner = await service.owner()
    const subject = await aDeletedPayee(owner)
    const answers = await times(6, () => ask(owner, subject))
    expect(answers.map(({ status }) => status).sort()).toEqual([201, 400, 400, 400, 400, 400])
    const { data } = await bodyOf(owner.client.gdpr.listDeletions({ query: { status: 'requested' } }))
    expect(data).toHaveLength(1)
  })

  test('of a subject that is not there, or is another owner’s, is refused', async () => {
    const [owner, other] = [await service.owner(), await service.owner()]
    const subject = await aDeletedPayee(other)
    expect(await ask(owner, subject)).toMatchObject({ status: 404, code: 'subject_not_found' })
    const { id } = await bodyOf(ask(other, subject))
    const params = { id }
    expect(await owner.client.gdpr.getDeletion({ params })).toMatchObject({ status: 404 })
    expect(await owner.client.gdpr.cancelDeletion({ params })).toMatchObject({ status: 404 })
  })

  test('lists its obstacles, waits for them, and continues automatically', async () => {
    const owner = await service.owner()
    const { id } = await aBeneficiary(owner.client, { name: MARK })
    const made = await bodyOf(ask(owner, { type: 'beneficiary', id }))
    await sealTrail(service)
    await advance(owner, { days: 8 })
    expect(await read(owner, made.id)).toMatchObject({
      status: 'waiting',
      waitsFor: [{ type: 'beneficiary', id, howItEnds: expect.stringContaining('DELETE /beneficiaries') }],
    })
    expect(await textsOf(owner, 'beneficiaries')).toContain(MARK)
    await owner.client.beneficiaries.delete({ params: { id } })
    await sealTrail(service)
    await advance(owner, { days: 1 })
    expect(await read(owner, made.id)).toMatchObject({ status: 'completed', waitsFor: [] })
    expect(await textsOf(owner, 'beneficiaries', 'events')).not.toContain(MARK)
  })

  test('waits until the trail is sealed, and repeats its steps without effect', async () => {
    const owner = await service.owner()
    const subject = await aDeletedPayee(owner)
    const { id } = await bodyOf(ask(owner, subject))
    await sealTrail(service)
    await service.sql(
      `insert into events (id, owner_id, mode, actor_type, action, event, data, outcome, resource_id, request_id, created_at, recorded_at)
       values ($1, $2, 'test', 'key', 'a.b', 'a.b', $3, 'done', $4, 'r', now(), now())`,
      [newId('event'), owner.ownerId, JSON.stringify({ name: MARK }), subject.id],
    )
    await advance(owner, { days: 8 })
    expect(await read(owner, id)).toMatchObject({ status: 'forgetting' })
    await sealTrail(service)
    await advance(owner, { seconds: 1 })
    const done = await read(owner, id)
    expect(done).toMatchObject({ status: 'completed' })
    await advance(owner, { days: 1 })
    expect(await read(owner, id)).toEqual(done)
    expect(await textsOf(owner, 'beneficiaries', 'events', 'audit_seals')).not.toContain(MARK)
  })

  test('needs the passkey of an owner where there is one, over exactly this subject', async () => {
    const account = await service.owner()
    const subject = await aDeletedPayee(account)
    const signer = await enrolled(service, account)
    expect(await ask(account, subject)).toMatchObject({ status: 400, code: 'assertion_required' })
    const sign = (of?: typeof subject) =>
      assertion(account.client, signer, { purpose: 'deletion', ...(of ? { subject: of } : {}) })
    const other = await sign()
    const create = (webauthnAssertion: Awaited<ReturnType<typeof sign>>) =>
      account.client.gdpr.createDeletion({ body: { subject, webauthnAssertion } })
    expect(await create(other)).toMatchObject({ status: 400, code: 'statement_outdated' })
    const signed = await sign(subject)
    expect(await create(signed)).toMatchObject({ status: 201 })
    expect(await create(signed)).toMatchObject({ status: 400, code: 'challenge_used' })
  })
})
