import { tokenPayments } from '../../control/agent-tokens/index.ts'
import { loadCardTerms } from '../../control/card-terms/index.ts'
import { mostOfIntentSql, type PayableIntentSearch, searchesByName } from '../../control/intents/index.ts'
import type { Tenant, TenantNow } from '../../kernel/contract/actor.ts'
import { answerTo } from '../../kernel/contract/question.ts'
import type { Row, Sql } from '../../kernel/contract/sql.ts'
import { insertInto, selectColumnList, updateOf } from '../../kernel/database/bulk-sql.ts'
import { tableOf } from '../../kernel/database/table.ts'
import { type Cents, NO_CENTS } from '../../values/money.ts'
import type { cardNumberMachine, cardUsages } from '../cards/index.ts'
import {
  type AuthorizationRow,
  CardAuthorization,
  CardMessage,
  type CardMessageRow,
} from './authorization.ts'

const authorizations = tableOf(CardAuthorization)
const messages = tableOf(CardMessage)

export const insertAuthorizations = insertInto(authorizations)
export const updateAuthorizations = updateOf(authorizations, [
  'updatedAt',
  'cardId',
  'processorRef',
  'status',
  'source',
  'walletId',
  'intentId',
  'networkTokenId',
  'amountCents',
  'approvedCents',
  'heldCents',
  'capturedCents',
  'clearedCents',
  'refundedCents',
  'merchant',
  'merchantKey',
  'descriptor',
  'mcc',
  'country',
  'facts',
  'decisionSummary',
  'declineReason',
  'expiresAt',
  'transactionId',
])
export const insertCardMessages = insertInto(messages)

const DELETE = 'delete from card_authorizations where owner_id = $1 and mode = $2 and id = any($3::text[])'

export async function deleteAuthorizations(
  sql: Sql,
  { ownerId, mode }: Tenant,
  rows: readonly AuthorizationRow[],
): Promise<void> {
  if (rows.length > 0) await sql(DELETE, [ownerId, mode, rows.map(({ id }) => id)])
}

const BY_REF = `
select ${selectColumnList(authorizations, 'a')} from card_authorizations a
where a.owner_id = $1 and a.mode = $2 and a.processor_ref = any($3::text[])`

const BY_ID = `
select ${selectColumnList(authorizations, 'a')} from card_authorizations a
where a.owner_id = $1 and a.mode = $2 and a.id = any($3::text[])`

const OF_TRANSACTIONS = `
select ${selectColumnList(authorizations, 'a')} from card_authorizations a
where a.owner_id = $1 and a.mode = $2 and a.transaction_id = any($3::text[])`

const OF_INTENTS = `
select ${selectColumnList(authorizations, 'a')} from card_authorizations a
where a.owner_id = $1 and a.mode = $2 and a.intent_id = any($3::text[])`

/** The authorization of a machine payment, found from the agent credential whose token paid. */
export const joinMachinePaymentSql = (credential: string): string => `
cross join lateral (
  select * from card_authorizations one where (one.owner_id, one.mode, one.intent_id, one.mpp_credential_id)
    = ($1, $2, ${credential}.intent_id, ${credential}.mpp_credential_id) limit 1) a`

/** Restricted to tokens of machine payments, since other tokens of a card have many payments and match none here. */
const OF_TOKENS = `
select ${selectColumnList(authorizations, 'a')} from agent_credentials c ${joinMachinePaymentSql('c')}
where c.owner_id = $1 and c.mode = $2 and c.token_id = any($3::text[]) and c.mpp_credential_id is not null`

/**
 * Confirmed checkouts without a message of the network, those first that may take little. The condition is that of the index.
 * Each search reads as many as there are searches, since these may want the same ones.
 */
const awaitedBy = (isNamed: string): string => `
select ${selectColumnList(authorizations, 'found')}
from unnest($3::text[], $4::text[], $5::text[], $6::bigint[]) as w (agent, card, name, amount)
cross join lateral (
  select * from (
    select a.*, ${mostOfIntentSql('a.intent_id')} as most from card_authorizations a
    where a.owner_id = $1 and a.mode = $2 and a.agent_id = w.agent and ${isNamed}
      and a.is_awaited and coalesce(a.card_id, w.card) = w.card) as one
  where one.most >= w.amount
  order by one.most, one.id limit $7) as found`

const AWAITED = awaitedBy('a.merchant_key = w.name')
const AWAITED_BY_BEGINNING = awaitedBy(
  'lower(left(a.merchant, length(w.name))) = w.name and length(a.merchant) > length(w.name)',
)

/** The bound of each card. Most payments that failed are never reported, so they are left out after a month. */
const MOST_SHARED = 1_000

/** Payments by a shared token that the network has not reported yet, with their token. */
const SHARED = `
select ${selectColumnList(authorizations, 'a')}, c.token_id as "sharedTokenId",
  a.exceptional_status is not null as "isOver",
  (c.expires_at <= $4::timestamptz or c.status = 'revoked' and c.processor_problem is null) as "isEnded"
from unnest($3::text[]) as w (card)
cross join lateral (
  select * from card_authorizations one
  where one.owner_id = $1 and one.mode = $2 and one.card_id = w.card and one.is_shared
  order by one.id desc limit ${MOST_SHARED}) as a
cross join lateral (
  select one.token_id, one.expires_at, one.status, one.processor_problem from agent_credentials one
  where (one.owner_id, one.mode, one.mpp_credential_id) = ($1, $2, a.mpp_credential_id) limit 1) as c
where c.token_id is not null
  and (a.exceptional_status is null or c.expires_at > $4::timestamptz - interval '31 days')
order by a.id`

const REFUNDED = `
select ${selectColumnList(authorizations, 'found')}
from unnest($3::text[], $4::text[], $5::bigint[]) as w (card, key, amount)
cross join lateral (
  select a.* from refunds r
  cross join lateral (
    select * from card_authorizations one
    where one.owner_id = $1 and one.mode = $2 and one.transaction_id = r.transaction_id limit 1) a
  where r.owner_id = $1 and r.mode = $2 and r.transaction_id is not null and r.status = 'pending' and r.way = 'card'
    and r.amount_cents - r.arrived_cents = w.amount and a.card_id = w.card and a.merchant_key = w.key
  order by r.id limit $6) as found`

const MESSAGES = `
select ${selectColumnList(messages, 'm')} from card_messages m
where m.owner_id = $1 and m.mode = $2 and m.id = any($3::text[])`

const select =
  (text: string) =>
  async (sql: Sql, { ownerId, mode }: Tenant, keys: readonly string[]): Promise<AuthorizationRow[]> =>
    keys.length === 0 ? [] : sql<AuthorizationRow & Row>(text, [ownerId, mode, keys])

/** The callers hold the agents' locks, so no other transaction changes these authorizations. */
export const authorizationsByProcessorRef = select(BY_REF)
export const authorizationsById = select(BY_ID)
export const authorizationsOfTransactions = select(OF_TRANSACTIONS)
export const authorizationsOfIntents = select(OF_INTENTS)
export const authorizationsOfTokens = select(OF_TOKENS)

export async function awaitedAuthorizations(
  sql: Sql,
  { ownerId, mode }: Tenant,
  searches: readonly PayableIntentSearch[],
): Promise<AuthorizationRow[]> {
  const { byKey, byBeginning } = searchesByName(searches)
  const find = async (query: string, wanted: typeof byKey): Promise<AuthorizationRow[]> =>
    wanted.length === 0
      ? []
      : sql<AuthorizationRow & Row>(query, [
          ownerId,
          mode,
          wanted.map(({ agentId }) => agentId),
          wanted.map(({ cardId }) => cardId),
          wanted.map(({ name }) => name),
          wanted.map(({ amountCents }) => amountCents),
          searches.length,
        ])
  return (await Promise.all([find(AWAITED, byKey), find(AWAITED_BY_BEGINNING, byBeginning)])).flat()
}

export interface SharedTokenTerms {
  /** The payment has ended, mostly as not paid. */
  readonly isOver: boolean
  /** The token can no longer be charged: it has expired, or the processor has revoked it. */
  readonly isEnded: boolean
}

/** Their `networkTokenId` is the shared token, which is stored once the network has reported the payment. */
export async function authorizationsBySharedToken(
  sql: Sql,
  { tenant: { ownerId, mode }, now }: TenantNow,
  cardIds: readonly string[],
): Promise<ReadonlyMap<AuthorizationRow, SharedTokenTerms>> {
  if (cardIds.length === 0) return new Map()
  const rows = await sql<AuthorizationRow & Row & SharedTokenTerms & { sharedTokenId: string }>(SHARED, [
    ownerId,
    mode,
    [...new Set(cardIds)],
    now,
  ])
  return new Map(
    rows.map(({ sharedTokenId: networkTokenId, isOver, isEnded, ...row }) => [
      { ...row, networkTokenId },
      { isOver, isEnded },
    ]),
  )
}

export const cardMessagesById = async (
  sql: Sql,
  { ownerId, mode }: Tenant,
  ids: readonly string[],
): Promise<CardMessageRow[]> =>
  ids.length === 0 ? [] : sql<CardMessageRow & Row>(MESSAGES, [ownerId, mode, ids])

export interface UnlinkedRefund {
  readonly cardId: string
  readonly merchantKeys: readonly string[]
  readonly amountCents: Cents
}

export async function authorizationsForUnlinkedRefunds(
  sql: Sql,
  { ownerId, mode }: Tenant,
  refunds: readonly UnlinkedRefund[],
): Promise<AuthorizationRow[]> {
  const wanted = refunds.flatMap(({ cardId, merchantKeys, amountCents }) =>
    merchantKeys.map(key => ({ cardId, key, amountCents })),
  )
  if (wanted.length === 0) return []
  return sql<AuthorizationRow & Row>(REFUNDED, [
    ownerId,
    mode,
    wanted.map(({ cardId }) => cardId),
    wanted.map(({ key }) => key),
    wanted.map(({ amountCents }) => String(amountCents)),
    wanted.length,
  ])
}

/** By the number that the card has now. */
interface AuthorizationPayer extends Row, Pick<AuthorizationRow, 'agentId' | 'cardId'> {
  readonly numberId: string | null
}

const PAYERS = `
select a.agent_id as "agentId", a.card_id as "cardId", c.number_id as "numberId" from card_authorizations a
left join lateral (
  select * from cards one where (one.owner_id, one.mode, one.id) = ($1, $2, a.card_id) limit 1) as c on true
where a.owner_id = $1 and a.mode = $2 and a.id = any($3::text[])`

export const payersOfAuthorizations = (
  sql: Sql,
  { ownerId, mode }: Tenant,
  ids: readonly string[],
): Promise<AuthorizationPayer[]> => sql<AuthorizationPayer>(PAYERS, [ownerId, mode, ids])

export interface PayingCard extends Row {
  readonly cardId: string
  readonly numberId: string
  readonly processorCardId: string
  readonly usage: (typeof cardUsages)[number]
  readonly walletId: string | null
  readonly paymentId: string | null
  readonly numberStatus: (typeof cardNumberMachine.states)[number]
  readonly retiresAt: Date | null
  readonly endsAt: Date
}

const NUMBERS = `
select c.id as "cardId", n.id as "numberId", n.processor_card_id as "processorCardId", c.usage, c.wallet_id as "walletId",
  n.status as "numberStatus", n.retires_at as "retiresAt", n.ends_at as "endsAt",
  case when c.usage = 'single' then (
    select a.id from card_authorizations a
    where a.owner_id = $1 and a.mode = $2 and a.card_id = c.id and a.amount_cents > 0
      and coalesce(a.exceptional_status, 'refunded') = 'refunded' limit 1) end as "paymentId"
from unnest($3::text[]) as w (id)
cross join lateral (
  select * from card_numbers one where (one.owner_id, one.mode, one.id) = ($1, $2, w.id) limit 1) as n
cross join lateral (
  select * from cards one where (one.owner_id, one.mode, one.id) = ($1, $2, n.card_id) limit 1) as c`

/** The caller holds the locks of the cards' agents. */
export async function payingCards(
  sql: Sql,
  { ownerId, mode }: Tenant,
  numberIds: readonly string[],
): Promise<ReadonlyMap<string, PayingCard>> {
  if (numberIds.length === 0) return new Map()
  const rows = await sql<PayingCard>(NUMBERS, [ownerId, mode, [...new Set(numberIds)]])
  return new Map(rows.map(row => [row.numberId, row]))
}

interface CardOfToken extends Row {
  readonly id: string
  readonly cardId: string
  readonly isClosed: boolean
  readonly capturedCents: Cents
}

/** A payment on an intent counts by itself. */
const CARDS_OF_TOKENS = `
select c.token_id as id, c.id as "cardId", c.status = 'closed' as "isClosed", p.captured as "capturedCents" from cards c
cross join lateral (
  select bool_or(a.source = 'intent') as on_intent, coalesce(sum(a.captured_cents), 0)::bigint as captured from card_authorizations a
  where (a.owner_id, a.mode, a.card_id) = (c.owner_id, c.mode, c.id) and a.amount_cents > 0
    and coalesce(a.exceptional_status, 'refunded') = 'refunded') as p
where c.owner_id = $1 and c.mode = $2 and c.token_id = any($3::text[]) and p.on_intent is not true`

/** A single-use card whose data a token has can be charged up to its limit until it closes. */
export const paymentsOfTokenCards = answerTo(tokenPayments, async (ids, { sql, tenant }) => {
  const cards = await sql<CardOfToken>(CARDS_OF_TOKENS, [tenant.ownerId, tenant.mode, ids])
  const open = cards.filter(({ isClosed }) => !isClosed)
  const terms = await loadCardTerms(
    sql,
    tenant,
    open.map(({ cardId }) => cardId),
  )
  return cards.map(({ id, cardId, isClosed, capturedCents }) => ({
    id,
    heldCents: isClosed ? NO_CENTS : (terms.get(cardId)?.maxTransactionCents ?? NO_CENTS),
    spentCents: isClosed ? capturedCents : NO_CENTS,
  }))
})
