import type { areas } from '../../src/areas.ts'
import type { CallAnswer } from '../../src/derive/client.ts'
import { newId } from '../../src/values/ids.ts'
import type { TestClient } from './client.ts'
import type { Owner, TestService } from './harness.ts'

export type { TestClient }

/** The body of an answer; throws on a refusal. */
export async function bodyOf<T>(answer: Promise<CallAnswer<T>>): Promise<T> {
  const { status, body, error } = await answer
  if (error !== undefined) throw new Error(`${status}: ${error}`)
  return body
}

/** Headers with which a report answers as CSV, in place of JSON. */
export const asCsv = { headers: { accept: 'text/csv' } }

type RequestBody<F> = F extends (input: infer I extends { body?: unknown }) => unknown
  ? Partial<NonNullable<I['body']>>
  : never

export const anAgent = (client: TestClient, members: RequestBody<TestClient['agents']['create']> = {}) =>
  bodyOf(client.agents.create({ body: { name: 'Research assistant', ...members } }))

/** A deleted agent of test mode. Advances the owner's clock by the longest duration of a deletion. */
export async function aDeletedAgent(client: TestClient): ReturnType<typeof anAgent> {
  const params = { id: (await anAgent(client)).id }
  await bodyOf(client.agents.delete({ params }))
  await bodyOf(client.sandbox.advance({ body: { minutes: 1 } }))
  return bodyOf(client.agents.get({ params }))
}

export const aPolicy = (client: TestClient, rules: RequestBody<TestClient['policies']['create']> = {}) =>
  bodyOf(client.policies.create({ body: { name: 'Research budget', ...rules } }))

export async function aFundedAgent(
  client: TestClient,
  members: RequestBody<TestClient['agents']['create']> = {},
  euros = 10_000,
): ReturnType<typeof anAgent> {
  const agent = await anAgent(client, members)
  await bodyOf(client.fund.wallet({ params: { id: agent.walletId }, body: { amountEuros: euros } }))
  return agent
}

export const anAgentUnder = async (
  client: TestClient,
  rules: RequestBody<TestClient['policies']['create']>,
): ReturnType<typeof anAgent> => aFundedAgent(client, { policyId: (await aPolicy(client, rules)).id })

export const anIntent = (
  client: TestClient,
  agentId: string,
  members: RequestBody<TestClient['intents']['create']> = {},
) => {
  // The merchant of a payment to a record is its name.
  const isNamed = members.beneficiaryId || members.walletId || members.requestId
  const merchant = isNamed ? {} : { merchant: 'Bookshop' }
  const body = {
    ...merchant,
    amountEuros: 25,
    purpose: 'A paper on caching',
    ...members,
    agentId,
  }
  return bodyOf(client.intents.create({ body }))
}

export const aBeneficiary = (
  client: TestClient,
  members: RequestBody<TestClient['beneficiaries']['create']> = {},
) =>
  bodyOf(
    client.beneficiaries.create({
      body: { name: 'Bäckerei Müller', iban: 'DE89 3704 0044 0532 0130 00', ...members },
    }),
  )

export const aKey = (client: TestClient, members: RequestBody<TestClient['keys']['create']> = {}) =>
  bodyOf(client.keys.create({ body: { name: 'Build server', environment: 'sandbox', ...members } }))

export const aToken = (
  client: TestClient,
  agentId: string,
  members: RequestBody<TestClient['agentTokens']['create']> = {},
) => bodyOf(client.agentTokens.create({ params: { id: agentId }, body: { label: 'Laptop', ...members } }))

/** A client with a live key, whose owner is set to verified. */
export async function aLiveClient(
  service: Pick<TestService, 'sql' | 'client'>,
  owner: Owner<typeof areas>,
): Promise<TestClient> {
  await service.sql(`update customers set kyc_status = 'verified' where id = $1`, [owner.ownerId])
  const { key } = await aKey(owner.client, { environment: 'live' })
  return service.client(String(key))
}

export async function aWallet(
  client: TestClient,
  euros = 0,
  members: RequestBody<TestClient['wallets']['create']> = {},
) {
  const wallet = await bodyOf(client.wallets.create({ body: { name: 'Purse', ...members } }))
  if (euros === 0) return wallet
  const body = { amountEuros: euros }
  const { funding: _, ...funded } = await bodyOf(client.fund.wallet({ params: { id: wallet.id }, body }))
  return funded
}

export const aWebhook = (client: TestClient, members: RequestBody<TestClient['webhooks']['create']> = {}) =>
  bodyOf(
    client.webhooks.create({
      body: { url: 'https://example.com/hooks/payments', events: ['agent.frozen'], ...members },
    }),
  )

export const aPaymentMethod = (
  client: TestClient,
  members: RequestBody<TestClient['billing']['addPaymentMethod']> = {},
) =>
  bodyOf(client.billing.addPaymentMethod({ body: { token: 'tok_visa', holder: 'Ada Lovelace', ...members } }))

const BANK = `
insert into ledger_accounts (id, owner_id, mode, created_at, updated_at, currency, kind, normal, minimum_cents)
values ($3, $1, $2, now(), now(), 'EUR', 'bank', 'debit', 0) on conflict do nothing`

const CREDIT = `
select ledger_post($1, $2, now(),
  jsonb_build_array(jsonb_build_object('id', $4::text, 'currency', 'EUR', 'kind', 'fund',
    'referenceType', 'trial', 'referenceId', $4::text)),
  (select jsonb_agg(jsonb_build_object('transferId', $4::text, 'accountId', id, 'hold', 0,
    'amount', case kind when 'bank' then -1000000 else 1000000 end))
   from ledger_accounts where (owner_id, mode) = ($1, $2) and (kind = 'bank' or wallet_id = $3)))`

/** Credits an agent's wallet with ten thousand euros, in live mode too, as a rail would. */
export async function creditWallet(
  { sql }: { sql(text: string, values: unknown[]): Promise<unknown> },
  { ownerId, mode, walletId }: { ownerId: string; mode: string; walletId: string },
): Promise<void> {
  await sql(BANK, [ownerId, mode, newId('account')])
  await sql(CREDIT, [ownerId, mode, walletId, newId('posting')])
}

export async function aSepaTransfer(
  client: TestClient,
  members: RequestBody<TestClient['transfers']['create']> & { name?: string } = {},
) {
  const { name = 'Bäckerei Müller', ...body } = members
  const amountEuros = body.amountEuros ?? 12.5
  const fromWalletId = body.fromWalletId ?? (await aWallet(client, amountEuros)).id
  const beneficiaryId = body.beneficiaryId ?? (await aBeneficiary(client, { name })).id
  return bodyOf(client.transfers.create({ body: { ...body, amountEuros, fromWalletId, beneficiaryId } }))
}

export const aRun = (
  client: TestClient,
  agentId: string,
  members: RequestBody<TestClient['runs']['create']> = {},
) => bodyOf(client.runs.create({ body: { name: 'Literature review', ...members, agentId } }))

export const aDelegation = (
  client: TestClient,
  agentId: string,
  members: RequestBody<TestClient['delegations']['create']> = {},
) =>
  bodyOf(
    client.delegations.create({ body: { maxAmountEuros: 20, expiresInMinutes: 60, ...members, agentId } }),
  )

export const redeemDelegation = (client: TestClient, { code }: { code: string | null }) =>
  bodyOf(client.delegations.redeem({ body: { code: String(code) } }))
