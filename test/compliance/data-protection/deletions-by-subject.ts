import { describe, expect, test } from '@jest/globals'
import { sendEuros } from '../../support/commerce/requests.ts'
import { endOverdueOf } from '../../support/compliance/deadlines.ts'
import { sealTrail } from '../../support/compliance/trail.ts'
import {
  aBeneficiary,
  aDeletedAgent,
  anAgent,
  anAgentUnder,
  anIntent,
  aSepaTransfer,
  aWallet,
  aWebhook,
  bodyOf,
  type TestClient,
} from '../../support/factories.ts'
import { redeem } from '../../support/identity/console.ts'
import { expectVerifiedLedger } from '../../support/verified-ledger.ts'
import { aDeletedPayee, advance, advanceUntil, ask, MARK, read, textsOf } from './asking.ts'
import { service } from './service.ts'

/** An outcome whose note, and a name and a text of whose metadata, named a person. */
async function aCorrectedOutcome(client: TestClient): Promise<void> {
  const agent = await anAgent(client)
  const { id: intentId } = await anIntent(client, agent.id)
  const words = { note: MARK, metadata: { [MARK]: 'reader', 'read.by': MARK } }
  const params = await bodyOf(client.outcomes.create({ body: { intentId, success: true, ...words } }))
  await bodyOf(client.outcomes.update({ params, body: { note: null, metadata: {} } }))
  await bodyOf(client.agents.delete({ params: agent }))
  await bodyOf(client.sandbox.advance({ body: { minutes: 1 } }))
}

const aRequestToMark = async (client: TestClient) => {
  const { id: walletId } = await aWallet(client)
  const about = { description: 'A book', payerName: MARK, payerEmail: 'mark@example.com' }
  return bodyOf(client.collect.create({ body: { walletId, amountEuros: 25, expiresInHours: 500, ...about } }))
}

async function markWhoHasJoined(client: TestClient, role: 'owner' | 'viewer'): Promise<string> {
  const { id, joinUrl } = await bodyOf(
    client.people.create({ body: { name: MARK, email: 'mark@example.com', role } }),
  )
  expect((await redeem(service.url, joinUrl)).status).toBe(201)
  return id
}

describe('a deletion of', () => {
  test('a payer who has paid forgets how they are reached, and keeps the voucher with their name until its last year is over', async () => {
    const owner = await service.owner()
    const { client } = owner
    const { id, reference } = await aRequestToMark(client)
    const made = await bodyOf(ask(owner, { type: 'payer', id }))
    await sealTrail(service)
    await advance(owner, { days: 8 })
    expect((await read(owner, made.id)).waitsFor).toMatchObject([{ type: 'payment_request', id }])
    // It was unpaid when the erasure was requested: what counts is that it is paid by now.
    await sendEuros(client, 25, reference)
    await sealTrail(service)
    await advance(owner, { days: 1 })
    const done = await read(owner, made.id)
    const until = `${Number(done.completedAt?.slice(0, 4)) + 9}-01-01T00:00:00.000Z`
    expect(done).toMatchObject({ status: 'completed' })
    expect(done.kept).toContainEqual(
      expect.objectContaining({
        ground: 'vouchers',
        areas: expect.arrayContaining(['Claim / Collect']),
        until,
      }),
    )
    const texts = () => textsOf(owner, 'payment_requests', 'events', 'audit_seals', 'idempotency_keys')
    expect(await texts()).not.toContain('mark@example.com')
    expect((await texts()).split(MARK)).toHaveLength(2)
    expect(await bodyOf(client.collect.get({ params: { id } }))).toMatchObject({ payerEmail: null })
    await sealTrail(service)
    await expectVerifiedLedger(client)
    await advanceUntil(owner, Date.parse(until) - 86_400_000)
    expect(await texts()).toContain(MARK)
    await advance(owner, { days: 1 })
    expect(await texts()).not.toContain(MARK)
    expect(await bodyOf(client.collect.get({ params: { id } }))).toMatchObject({ payerName: '[forgotten]' })
  })

  test('a payer who has paid nothing keeps no voucher: name and words go at once', async () => {
    const owner = await service.owner()
    const { client } = owner
    const { id } = await aRequestToMark(client)
    await client.collect.cancel({ params: { id }, body: {} })
    const made = await bodyOf(ask(owner, { type: 'payer', id }))
    await sealTrail(service)
    await advance(owner, { days: 8 })
    expect(await read(owner, made.id)).toMatchObject({ status: 'completed', kept: [] })
    expect(await textsOf(owner, 'payment_requests', 'events', 'audit_seals', 'idempotency_keys')).not.toMatch(
      /Mark Erased|mark@example|A book/,
    )
    expect(await bodyOf(client.collect.get({ params: { id } }))).toMatchObject({
      payerName: '[forgotten]',
      description: '[forgotten]',
    })
  })

  test('a payee keeps what an intent was paid for, and forgets it of one that was not', async () => {
    const owner = await service.owner()
    const { client } = owner
    const agent = await anAgentUnder(client, { autoApproveLimitEuros: 2_000 })
    const { id: beneficiaryId } = await aBeneficiary(client, { name: MARK })
    const intend = (purpose: string) =>
      anIntent(client, agent.id, { amountEuros: 20, beneficiaryId, purpose, clientIntentId: purpose })
    const paid = await intend('What was paid')
    const unpaid = await intend('What was not paid')
    const body = { fromWalletId: agent.walletId, beneficiaryId, intentId: paid.id, amountEuros: 20 }
    const { id: transferId } = await bodyOf(client.transfers.create({ body }))
    await bodyOf(client.sandbox.advance({ body: { minutes: 2 } }))
    await bodyOf(client.transfers.get({ params: { id: transferId } }))
    await bodyOf(client.intents.cancel({ params: { id: unpaid.id }, body: {} }))
    await client.beneficiaries.delete({ params: { id: beneficiaryId } })
    const made = await bodyOf(ask(owner, { type: 'beneficiary', id: beneficiaryId }))
    await sealTrail(service)
    await advance(owner, { days: 8 })
    const done = await read(owner, made.id)
    expect(done).toMatchObject({ status: 'completed' })
    const purposes = 'select purpose from intents where owner_id = $1 order by created_at, id'
    expect(await service.sql(purposes, [owner.ownerId])).toEqual([
      { purpose: 'What was paid' },
      { purpose: '[forgotten]' },
    ])
    expect(await textsOf(owner, 'intents', 'decisions')).not.toContain('What was not paid')
    const counts = `select (select count(*) from decisions where owner_id = $1 and request <> '{}')::int as decisions`
    expect(await service.sql(counts, [owner.ownerId])).toEqual([{ decisions: 1 }])
    // From `payments`: one intent and its decision.
    expect(done.kept.find(({ ground }) => ground === 'payments')).toMatchObject({ records: 2 })
    const { data } = await bodyOf(client.intents.list())
    expect(data).toMatchObject([
      { id: unpaid.id, purpose: '[forgotten]', decision: { reason: '[forgotten]', checks: [] } },
      { id: paid.id, purpose: 'What was paid' },
    ])
    for (const { id } of data)
      expect((await client.intents.explanation({ params: { id } })).status).toBeLessThan(500)
  })

  test('a payee during a payment waits until it has arrived, keeps its voucher, and moves no money', async () => {
    const owner = await service.owner()
    const { client } = owner
    // A transfer of this amount stays in transit until it is settled.
    const transfer = await aSepaTransfer(client, { amountEuros: 777.06 })
    const id = String(transfer.beneficiaryId)
    await client.beneficiaries.delete({ params: { id } })
    const made = await bodyOf(ask(owner, { type: 'beneficiary', id }))
    await sealTrail(service)
    await advance(owner, { days: 8 })
    expect(await read(owner, made.id)).toMatchObject({
      status: 'waiting',
      waitsFor: [{ type: 'transfer', id: transfer.id }],
    })
    await bodyOf(client.transfers.simulateSettle({ body: { transferId: transfer.id } }))
    await sealTrail(service)
    await advance(owner, { days: 1 })
    const done = await read(owner, made.id)
    expect(done).toMatchObject({ status: 'completed' })
    expect(done.kept.find(({ ground }) => ground === 'vouchers')?.areas).toContain('Transfers')
    expect(await textsOf(owner, 'beneficiaries', 'events', 'audit_seals')).not.toContain('Müller')
    expect((await client.transfers.get({ params: { id: transfer.id } })).status).toBe(200)
    await expectVerifiedLedger(client)
  })

  test.each([
    ['who has joined', true],
    ['who never joined, which leaves no name,', false],
  ])('a person %s waits for the removal, and then also erases them as an actor', async (_, joins) => {
    const owner = await service.owner()
    const { client } = owner
    const { id, joinUrl } = await bodyOf(
      client.people.create({ body: { name: MARK, email: 'mark@example.com', role: 'viewer' } }),
    )
    if (joins) expect((await redeem(service.url, joinUrl)).status).toBe(201)
    const made = await bodyOf(ask(owner, { type: 'person', id }))
    await sealTrail(service)
    await advance(owner, { days: 8 })
    expect((await read(owner, made.id)).waitsFor).toMatchObject([{ type: 'person', id }])
    await client.people.remove({ params: { id } })
    await sealTrail(service)
    await advance(owner, { days: 1 })
    const { status, kept } = await read(owner, made.id)
    expect([status, kept.map(({ ground }) => ground)]).toEqual(['completed', joins ? ['payments'] : []])
    expect((await textsOf(owner, 'people')).includes(MARK)).toBe(joins)
    expect(await textsOf(owner, 'events', 'audit_seals', 'idempotency_keys')).not.toMatch(
      /Mark Erased|mark@example/,
    )
    expect(await bodyOf(client.audit.verify())).toMatchObject({ ok: true })
  })
})

test('a delegation pays on after a deletion of the person who made it, and the token keeps its name', async () => {
  const owner = await service.owner()
  const { client } = owner
  const id = await markWhoHasJoined(client, 'owner')
  const agent = await anAgentUnder(client, { autoApproveLimitEuros: 100 })
  const terms = { agentId: agent.id, maxAmountEuros: 50, merchant: 'Bookshop', label: 'Papers' }
  const made = await bodyOf(client.delegations.create({ body: { ...terms, expiresInMinutes: 40_000 } }))
  const body = { code: String(made.code) }
  const { token, tokenId } = await bodyOf(service.client('').delegations.redeem({ body }))
  await service.sql('update delegations set person_id = $2 where id = $1', [made.id, id])
  await service.sql('update agent_tokens set person_id = $2 where id = $1', [tokenId, id])
  await client.people.remove({ params: { id } })
  const { id: deletionId } = await bodyOf(ask(owner, { type: 'person', id }))
  await sealTrail(service)
  await advance(owner, { days: 8 })
  expect(await read(owner, deletionId)).toMatchObject({ status: 'completed' })
  expect(await anIntent(service.client(String(token)), agent.id)).toMatchObject({ status: 'approved' })
  expect(await bodyOf(client.delegations.get({ params: { id: made.id } }))).toMatchObject({
    merchant: 'Bookshop',
    label: 'Papers',
  })
})

test('a deletion of the person who asked for them leaves payments and cards as they were requested', async () => {
  const owner = await service.owner()
  const { client } = owner
  const id = await markWhoHasJoined(client, 'viewer')
  const { id: deletionId } = await bodyOf(ask(owner, { type: 'person', id }))
  await sealTrail(service)
  await advance(owner, { days: 8 })
  const agent = await anAgentUnder(client, { autoApproveLimitEuros: 1 })
  const intent = await anIntent(client, agent.id)
  await bodyOf(client.intents.deny({ params: { id: intent.id }, body: { reason: 'Too expensive' } }))
  const controls = { merchantAllowlist: ['Bookshop'] }
  const limits = { maxTransactionEuros: 50 }
  const card = {
    type: 'new_card',
    agentId: agent.id,
    usage: 'multi',
    limits,
    controls,
    reason: 'Papers',
  } as const
  const request = await bodyOf(client.cardRequests.create({ body: card }))
  for (const table of ['intents', 'card_requests'])
    await service.sql(`update ${table} set requester_id = $2 where owner_id = $1`, [owner.ownerId, id])
  await client.people.remove({ params: { id } })
  await sealTrail(service)
  await advance(owner, { days: 1 })
  expect(await read(owner, deletionId)).toMatchObject({ status: 'completed' })
  expect(await bodyOf(client.cardRequests.get({ params: { id: request.id } }))).toMatchObject({
    status: 'pending',
    reason: 'Papers',
    controls: request.controls,
  })
  expect(await bodyOf(client.intents.get({ params: { id: intent.id } }))).toMatchObject({
    merchant: 'Bookshop',
    purpose: intent.purpose,
    comment: 'Too expensive',
  })
})

describe('a deletion of the owner', () => {
  test('waits while money is in a wallet or an agent can pay, and names them', async () => {
    const owner = await service.owner()
    const wallet = await aWallet(owner.client, 25)
    const agent = await anAgent(owner.client)
    const { id } = await bodyOf(ask(owner))
    await advance(owner, { days: 8 })
    const waiting = await read(owner, id)
    expect(waiting).toMatchObject({ status: 'waiting', subject: { type: 'owner', id: owner.ownerId } })
    expect(waiting.waitsFor.map(({ type, id }) => [type, id])).toEqual(
      expect.arrayContaining([
        ['wallet', wallet.id],
        ['agent', agent.id],
      ]),
    )
    expect((await bodyOf(owner.client.customers.me())).status).toBe('active')
    await owner.client.gdpr.cancelDeletion({ params: { id } })
    expect(await read(owner, id)).toMatchObject({ status: 'cancelled', waitsFor: [] })
  })

  test('forgets the account in every area, suspends it, and keeps what the law wants until its end', async () => {
    const owner = await service.owner()
    await owner.client.customers.updateMe({ body: { name: MARK, email: 'mark@example.com' } })
    const subject = await aDeletedPayee(owner)
    const { client } = owner
    await aDeletedAgent(client)
    await aCorrectedOutcome(client)
    await client.people.create({ body: { name: MARK, email: 'mark@example.com', role: 'viewer' } })
    await aWebhook(client, { description: MARK })
    const { id } = await bodyOf(ask(owner))
    await advance(owner, { days: 8 })
    expect(await owner.client.customers.me()).toMatchObject({ status: 403, code: 'account_suspended' })
    await sealTrail(service)
    await endOverdueOf(service)
    const [done] = await service.sql<{ status: string; kept: { ground: string; until: string }[] }>(
      'select status, kept from gdpr_deletions where id = $1',
      [id],
    )
    expect(done?.status).toBe('completed')
    const answer = await bodyOf(service.dash.gdpr.getDeletion({ params: { id } }))
    expect(answer).toMatchObject({ status: 'completed', kept: expect.any(Array) })
    const year = new Date().getUTCFullYear()
    expect(done?.kept).toContainEqual(
      expect.objectContaining({ ground: 'vouchers', areas: expect.arrayContaining(['Customers']) }),
    )
    expect(done?.kept.every(({ until }) => Number(until.slice(0, 4)) >= year + 4)).toBe(true)
    const left = await textsOf(
      owner,
      'beneficiaries',
      'webhooks',
      'outcomes',
      'events',
      'audit_seals',
      'idempotency_keys',
    )
    expect(left).toContain('outcome.corrected')
    expect(left).not.toMatch(/Mark Erased|mark@example/)
    expect(left).toContain(subject.id)
    const [account] = await service.sql('select name, email, status from customers where id = $1', [
      owner.ownerId,
    ])
    expect(account).toEqual({ name: MARK, email: '[forgotten]', status: 'suspended' })
  })

  test('proceeds page by page in several processes, and completes once', async () => {
    const owner = await service.owner()
    await service.sql(
      `insert into beneficiaries (id, owner_id, mode, created_at, updated_at, name, sepa_name, iban, country, deleted_at)
       select 'beneficiary_' || lpad(n::text, 26, '0'), $1, 'test', now(), now(), $2, $2, 'DE' || lpad(n::text, 20, '0'), 'DE', now()
       from generate_series(1, 12000) as n`,
      [owner.ownerId, MARK],
    )
    const { id } = await bodyOf(ask(owner))
    await advance(owner, { days: 8 })
    const deletion = async () =>
      (await service.sql('select status, records::int from gdpr_deletions where id = $1', [id]))[0]
    expect(await deletion()).toMatchObject({ status: 'forgetting' })
    await sealTrail(service)
    await Promise.all([endOverdueOf(service), endOverdueOf(service), endOverdueOf(service)])
    expect(await deletion()).toMatchObject({ status: 'completed' })
    expect(await textsOf(owner, 'beneficiaries')).not.toContain(MARK)
    const completed = "select from events where owner_id = $1 and event = 'gdpr.deletion_completed'"
    expect(await service.sql(completed, [owner.ownerId])).toHaveLength(1)
  })

  test('is refused to a test key where the account has live money', async () => {
    const owner = await service.owner()
    await service.sql(`update customers set kyc_status = 'verified' where id = $1`, [owner.ownerId])
    expect(await ask(owner)).toMatchObject({ status: 403, code: 'live_key_needed' })
  })

  test('is not carried out by a test clock where the account has come to live money meanwhile', async () => {
    const owner = await service.owner()
    const { id } = await bodyOf(ask(owner))
    await service.sql(`update customers set kyc_status = 'verified' where id = $1`, [owner.ownerId])
    await sealTrail(service)
    await advance(owner, { days: 30 })
    expect(await read(owner, id)).toMatchObject({
      status: 'waiting',
      waitsFor: [{ type: 'live_account', id: owner.ownerId }],
    })
    // Never due by itself: other tests carry out everything due.
    const forgetting = `update gdpr_deletions set status = 'forgetting', waits_for = '[]',
      due_at = due_at + interval '100 years' where id = $1`
    await service.sql(forgetting, [id])
    await expect(
      service.sql("select forget_next($1, 'test', $2, now() + interval '30 days', 10)", [owner.ownerId, id]),
    ).rejects.toThrow('live mode only')
  })
})
