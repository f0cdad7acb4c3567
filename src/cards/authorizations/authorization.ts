import { defineEntity, p } from '@mikro-orm/core'
import { type DecisionSummary, decisionOfRecordSql } from '../../control/decisions/index.ts'
import { INTENT_OF_OPENINGS, type IntentRow } from '../../control/intents/index.ts'
import { intentMerchantKey, merchantNameOfDescriptor } from '../../control/merchants/index.ts'
import { decodeAuthRequests, noPaymentFacts, type PaymentFacts } from '../../control/payments/index.ts'
import type { PolicyDecision } from '../../control/policies/index.ts'
import type { TenantNow } from '../../kernel/contract/actor.ts'
import { stateMachine } from '../../kernel/contract/machine.ts'
import { centsColumn, nullable, recordColumns, tenantTable } from '../../kernel/database/entity.ts'
import { personal, personalTable, plain } from '../../kernel/database/personal.ts'
import type { RowOf } from '../../kernel/database/table.ts'
import { newId } from '../../values/ids.ts'
import { NO_CENTS } from '../../values/money.ts'
import { isAboutSql, type PersonalAdditions } from '../../values/personal.ts'

/**
 * Facts may arrive in any order, so nearly every step is possible. `pending`: a machine payment has begun and
 * its outcome is unknown; `void`: it was not paid. `confirmed`: the agent confirmed its checkout, or a
 * merchant gave a receipt, and the network has sent no message yet.
 */
export const authorizationMachine = stateMachine('card-authorization', {
  pending: ['declined', 'authorized', 'cleared', 'reversed', 'expired', 'confirmed', 'refunded', 'void'],
  declined: ['authorized', 'cleared', 'reversed', 'expired', 'confirmed', 'refunded'],
  authorized: ['declined', 'cleared', 'reversed', 'expired', 'confirmed', 'refunded'],
  confirmed: ['authorized', 'cleared', 'reversed', 'expired', 'refunded', 'void'],
  cleared: ['authorized', 'refunded'],
  reversed: ['authorized', 'declined', 'cleared', 'expired', 'refunded', 'confirmed'],
  expired: ['cleared', 'refunded', 'confirmed', 'reversed', 'void'],
  refunded: ['cleared', 'authorized', 'reversed', 'expired', 'confirmed'],
  void: ['cleared', 'authorized', 'reversed', 'expired', 'refunded', 'confirmed', 'declined'],
})

export type AuthorizationStatus = (typeof authorizationMachine.states)[number]

export const CARD_REFUND_SOURCE = 'card_authorization'

export const fundingSources = ['intent', 'purse', 'wallet'] as const

/**
 * An SQL condition on a row: a declined card payment, or a machine payment that failed, and no money has moved in spite of
 * that. It names those states, so that a state added later is kept.
 */
const isUnpaidSql = (row: string): string =>
  `(${row}.status = 'declined' or ${row}.status = 'void' and ${row}.transaction_id is null)
  and ${row}.captured_cents + ${row}.cleared_cents + ${row}.refunded_cents = 0`

const schema = defineEntity({
  ...tenantTable('CardAuthorization', 'card_authorizations', 'agentId'),
  ...personalTable({
    keptWhile: {
      where: `not (${isUnpaidSql('t')})`,
      words: 'it was approved once, or money has moved',
    },
  }),
  properties: {
    ...recordColumns('cardauth'),
    agentId: p.text(),
    /** Null while only a checkout has confirmed the payment and the network has not named its card. */
    cardId: nullable.string(),
    /** The processor's id of the payment; null while only a checkout has confirmed it. */
    processorRef: plain(nullable.string()),
    status: p.enum(authorizationMachine.states).onCreate(() => authorizationMachine.initial),
    source: plain(p.enum(fundingSources)),
    walletId: p.text(),
    intentId: nullable.string(),
    networkTokenId: plain(nullable.string()),
    mppCredentialId: plain(nullable.string()),
    amountCents: centsColumn('amount_cents'),
    approvedCents: centsColumn('approved_cents'),
    heldCents: centsColumn('held_cents'),
    capturedCents: centsColumn('captured_cents'),
    clearedCents: centsColumn('cleared_cents'),
    refundedCents: centsColumn('refunded_cents'),
    merchant: personal(p.text(), 'payment', 'vouchers', 'word'),
    merchantKey: personal(p.text(), 'payment', 'vouchers', 'word'),
    descriptor: personal(p.text(), 'payment', 'vouchers', 'word'),
    mcc: plain(nullable.string()),
    country: plain(nullable.string()),
    /** The network can still send facts of a forgotten payment, so its facts keep their form. */
    facts: personal(p.json<PaymentFacts>(), 'payment', 'vouchers', {
      members: '{"requests":[],"outcome":[],"reversals":[],"clearings":[],"refunds":[],"returned":[]}',
    }),
    decision: p
      .json<PolicyDecision | null>()
      .strictNullable()
      .formula((_, { alias }) => decisionOfRecordSql(alias)),
    decisionSummary: personal(
      p.json<DecisionSummary | null>().strictNullable().name('decision'),
      'payment',
      'payments',
      'null',
    ),
    declineReason: plain(nullable.string()),
    expiresAt: nullable.instant(),
    transactionId: nullable.string(),
  },
})

/** A payment by card, from the network's first message to the last. Its state is derived from its facts. */
export class CardAuthorization extends schema.class {}
schema.setClass(CardAuthorization)

const message = defineEntity({
  ...tenantTable('CardMessage', 'card_messages', 'agentId'),
  ...personalTable({
    keptWhile: {
      where: `not ${isAboutSql('card_authorizations', 't.authorization_id', isUnpaidSql)}`,
      words: 'its payment was approved once, or money has moved',
    },
  }),
  properties: {
    ...recordColumns('cardmessage'),
    agentId: p.text(),
    cardId: p.text(),
    authorizationId: plain(nullable.string()),
    kind: plain(p.text()),
    /** SHA-256 of the signed bytes: the same id with other bytes is another message. */
    digest: plain(p.text()),
    answerStatus: p.integer(),
    answerHeaders: plain(p.json<Record<string, string>>()),
    answerBody: personal(p.text(), 'payment', 'payments', 'word'),
  },
})

export class CardMessage extends message.class {}
message.setClass(CardMessage)

export type AuthorizationRow = RowOf<CardAuthorization>
export type CardMessageRow = RowOf<CardMessage>

export interface FundingSource {
  readonly intent: IntentRow | undefined
  readonly source: AuthorizationRow['source']
  readonly walletId: string
}

type MerchantMembers = Pick<AuthorizationRow, 'descriptor' | 'mcc' | 'country'>

function fundedMembers(descriptor: string, { intent, source, walletId }: FundingSource) {
  const merchant = intent?.merchant ?? merchantNameOfDescriptor(descriptor)
  return {
    merchant,
    merchantKey: intentMerchantKey(merchant),
    source,
    walletId,
    intentId: intent?.id ?? null,
  }
}

interface GrowingBatch extends TenantNow {
  readonly authorizations: Set<AuthorizationRow>
  readonly changed: { readonly newAuthorizations: Set<AuthorizationRow> }
}

export function addAuthorization(
  named: Pick<AuthorizationRow, 'agentId' | 'cardId' | 'processorRef'> & MerchantMembers,
  funding: FundingSource,
  { tenant, now, authorizations, changed }: GrowingBatch,
  id = newId('cardauth'),
): AuthorizationRow {
  const { agentId, cardId, processorRef, descriptor, mcc, country } = named
  const authorization: AuthorizationRow = {
    ...tenant,
    id,
    createdAt: now,
    updatedAt: now,
    status: authorizationMachine.initial,
    ...{ agentId, cardId, processorRef, descriptor, mcc, country },
    ...fundedMembers(descriptor, funding),
    networkTokenId: null,
    mppCredentialId: null,
    amountCents: NO_CENTS,
    approvedCents: NO_CENTS,
    heldCents: NO_CENTS,
    capturedCents: NO_CENTS,
    clearedCents: NO_CENTS,
    refundedCents: NO_CENTS,
    facts: noPaymentFacts,
    decision: null,
    decisionSummary: null,
    declineReason: null,
    expiresAt: null,
    transactionId: null,
  }
  authorizations.add(authorization)
  changed.newAuthorizations.add(authorization)
  return authorization
}

/** True while merchant and funding are unknown: only a reversal, an expiry or a refund to the wallet has arrived. */
export const isPlaceholder = ({ facts, source }: AuthorizationRow): boolean =>
  decodeAuthRequests(facts).length + facts.clearings.length + facts.outcome.length === 0 &&
  facts.confirmed === null &&
  facts.initiated === undefined &&
  (facts.refunds.length === 0 || source === 'wallet')

/**
 * True while only a checkout has confirmed the payment and the network has not reported it. A machine payment is found
 * by its token: what comes without it is another purchase.
 */
export const isAwaited = ({ processorRef, status, mppCredentialId }: AuthorizationRow): boolean =>
  processorRef === null && status === 'confirmed' && mppCredentialId === null

/** Gives a placeholder its merchant and funding, as if this message had come first. */
export function fillPlaceholderAuthorization(
  authorization: AuthorizationRow,
  { descriptor, mcc, country }: MerchantMembers,
  funding: FundingSource,
): void {
  Object.assign(authorization, { descriptor, mcc, country, ...fundedMembers(descriptor, funding) })
}

/** An SQL condition on the row `t`: a card has paid the intent whose id `named` gives, even by a later message of the network. */
export const isPaidByCardSql = (named: string): string =>
  `exists (select from card_authorizations p
    where (p.owner_id, p.mode, p.intent_id) = (t.owner_id, t.mode, ${named}) and not (${isUnpaidSql('p')}))`

export const authorizationsPersonalAdditions: PersonalAdditions = {
  intents: { paid: isPaidByCardSql('t.id') },
  approvals: { paid: isPaidByCardSql('t.intent_id') },
  approval_openings: { paid: isPaidByCardSql(INTENT_OF_OPENINGS) },
  recorded_approvals: { paid: isPaidByCardSql('t.intent_id') },
  decisions: {
    unpaid: isAboutSql('card_authorizations', 't.subject_id', isUnpaidSql),
    paid: isPaidByCardSql('t.subject_id'),
  },
  transactions: {
    unpaid: `t.status = 'declined' and exists (
      select from card_authorizations a where (a.owner_id, a.mode, a.transaction_id) = (t.owner_id, t.mode, t.id)
      and ${isUnpaidSql('a')})`,
  },
}
