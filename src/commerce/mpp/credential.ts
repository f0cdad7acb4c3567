import { defineEntity, p } from '@mikro-orm/core'
import { stateMachine } from '../../kernel/contract/machine.ts'
import {
  centsColumn,
  nullable,
  recordColumns,
  tenantTable,
  timestampColumn,
} from '../../kernel/database/entity.ts'
import { personal, personalTable, plain } from '../../kernel/database/personal.ts'
import type { Conversion } from '../../money/exchange-rates/index.ts'
import type { PaymentChallenge } from '../../mpp/index.ts'
import type { SharedToken, SharedTokenAction, SharedTokenOrder } from '../../ports/card-processor.ts'
import { days, minutes } from '../../values/clock.ts'

/**
 * `minted`: a caller has the credential, or its shared payment token is being created or confirmed. `sent`: the credential is on its way, and the merchant has not answered. `indeterminate`: whether it was
 * paid is unknown. A void credential becomes consumed if the card network reports the payment after all. One
 * that only the network reported as paid becomes void if the network reverses it.
 */
export const mppCredentialMachine = stateMachine('mpp_credential', {
  minted: ['sent', 'consumed', 'void'],
  sent: ['consumed', 'indeterminate', 'void'],
  indeterminate: ['consumed', 'void'],
  consumed: ['void'],
  void: ['consumed'],
})

export type MppStatus = (typeof mppCredentialMachine.states)[number]

export const credentialSenders = ['service', 'caller'] as const

export const outcomeWitnesses = ['merchant', 'network', 'key', 'operator', 'deadline'] as const
export type OutcomeWitness = (typeof outcomeWitnesses)[number]

/** Shown to callers: the status of the order, and from its minting the credential. */
export const machinePaymentStatuses = [
  'waiting',
  'ordering',
  'awaiting_person',
  'sent',
  'indeterminate',
  'paid',
  'ended',
] as const

/** A token that waits for a person is known by its id before it is usable. */
export interface OrderedToken extends SharedTokenOrder {
  readonly unconfirmed?: Pick<SharedToken, 'tokenId' | 'last4'>
}

const schema = defineEntity({
  ...tenantTable('MppCredential', 'mpp_credentials', 'agentId', 'delegationId'),
  ...personalTable({
    keptWhile: {
      where: "t.status <> 'void' or t.transaction_id is not null",
      words: 'it was paid, or can still be',
    },
  }),
  properties: {
    ...recordColumns('mppcredential'),
    agentId: p.text(),
    delegationId: nullable.string(),
    intentId: p.text(),
    cardId: p.text(),
    agentCredentialId: plain(p.text()),
    status: p.enum(mppCredentialMachine.states).onCreate(() => mppCredentialMachine.initial),
    sentBy: plain(p.enum(credentialSenders)),
    /** The payee's host, with its port if that is not the default of the scheme. */
    merchant: personal(p.text(), 'payment', 'payments', 'word'),
    /** Stated by the merchant, so it proves nothing. */
    merchantName: personal(nullable.string(), 'payment', 'payments', 'word'),
    /** Stored without the query, which may contain secrets. */
    url: personal(p.text(), 'payment', 'payments', 'word'),
    method: plain(p.text()),
    amountCents: centsColumn('amount_cents'),
    conversion: plain(nullable.json<Conversion>()),
    network: plain(p.text()),
    challengeId: plain(p.text()),
    /** Stored as the merchant sent it, every parameter byte for byte. */
    challenge: personal(p.json<PaymentChallenge>(), 'payment', 'payments', 'empty'),
    requestDigest: plain(p.text()),
    /** SHA-256 of the credential. The credential itself is never stored. Empty before its token is created. */
    credentialDigest: plain(p.text()),
    /** What the shared payment token was ordered with, so that it is found again. Null for the method `card`. */
    sharedToken: plain(nullable.json<OrderedToken>()),
    /** Where a person confirms the payment, while that is waited for. */
    nextAction: personal(nullable.json<SharedTokenAction>(), 'payment', 'payments', 'null'),
    merchantStatus: nullable.integer(),
    receipt: personal(nullable.string(), 'payment', 'payments', 'word'),
    note: personal(nullable.string(), 'words', 'payments', 'word'),
    outcomeBy: plain(nullable.enum(outcomeWitnesses)),
    declinedAt: nullable.instant(),
    askedAt: timestampColumn(),
    sentAt: nullable.instant(),
    answeredAt: nullable.instant(),
    endedAt: nullable.instant(),
    dueAt: nullable.instant(),
    transactionId: nullable.string(),
    workflowId: nullable.string(),
  },
})

/** The only credential of a machine payment, from its minting to the last report of merchant or network. */
export class MppCredential extends schema.class {}
schema.setClass(MppCredential)

/** True while its shared payment token is being created or confirmed: no one has the credential yet. */
export const isUnshared = ({ status, credentialDigest }: MppCredential): boolean =>
  status === 'minted' && credentialDigest === ''

/** True while a person must confirm its shared payment token, before it is sent. */
export const awaitsPerson = (credential: MppCredential): boolean =>
  isUnshared(credential) && credential.nextAction !== null

/** A merchant has 30 seconds for its answer. The sending process must have ended after this time. */
export const SENT_CREDENTIAL_GRACE_MS = minutes(2)

/** Card networks wait no longer than this, so an unknown outcome then counts as not paid. */
export const INDETERMINATE_TTL_MS = days(31)

export const mppCredentialEvent = ({
  id,
  agentId,
  intentId,
  cardId,
  status,
  amountCents,
  merchant,
}: MppCredential) => ({ credentialId: id, agentId, intentId, cardId, status, amountCents, merchant })
