import { defineEntity, p } from '@mikro-orm/core'
import { machine } from '../../kernel/contract/machine.ts'
import { nullable, record, tenantTable, timestamp } from '../../kernel/database/entity.ts'
import type { Challenge } from '../../mpp/index.ts'
import { days, minutes } from '../../values/clock.ts'
import type { Personal } from '../../values/personal.ts'

/**
 * `sent`: the credential is on its way, and the merchant has not answered yet. `indeterminate`: it is unknown whether it was
 * paid. A payment that the card network reports after the credential became void was made all the same. One that the
 * network alone has reported as paid is void once the network takes that back.
 */
export const mppCredentialMachine = machine('mpp_credential', {
  minted: ['sent', 'consumed', 'void'],
  sent: ['consumed', 'indeterminate'],
  indeterminate: ['consumed', 'void'],
  consumed: ['void'],
  void: ['consumed'],
})

export type MppStatus = (typeof mppCredentialMachine.states)[number]

/** Who sends the credential to the merchant: this service, or the caller whom it was shown to. */
export const senders = ['service', 'caller'] as const

/** Who has stated the outcome. `deadline`: no one within 31 days. */
export const witnesses = ['merchant', 'network', 'key', 'operator', 'deadline'] as const
export type Witness = (typeof witnesses)[number]

const schema = defineEntity({
  ...tenantTable('MppCredential', 'mpp_credentials', 'agentId', 'delegationId'),
  properties: {
    ...record('mppcredential'),
    agentId: p.text(),
    delegationId: nullable.string(),
    intentId: p.text(),
    cardId: p.text(),
    /** The network token inside, with its limits. */
    agentCredentialId: p.text(),
    status: p.enum(mppCredentialMachine.states).onCreate(() => mppCredentialMachine.initial),
    sentBy: p.enum(senders),
    /** The host that was asked, with its port where that is not the usual one: it is the payee. */
    merchant: p.text(),
    /** The name that the merchant gives itself. It proves nothing. */
    merchantName: nullable.string(),
    /** Without its query, which may hold secrets. */
    url: p.text(),
    method: p.text(),
    amountCents: p.bigint().name('amount_cents'),
    network: p.text(),
    challengeId: p.text(),
    /** As the merchant wrote it: every parameter byte for byte. */
    challenge: p.json<Challenge>(),
    /** SHA-256 of method, address and body of the request. */
    requestDigest: p.text(),
    /** SHA-256 of the credential, which is never kept itself. */
    credentialDigest: p.text(),
    merchantStatus: nullable.integer(),
    /** The receipt as its header came; null unless it is one for this payment. */
    receipt: nullable.string(),
    /** What an operator must know of the answer. */
    note: nullable.string(),
    outcomeBy: nullable.enum(witnesses),
    /** The card network has refused to pay by the token, and has not paid by it since. */
    declinedAt: nullable.instant(),
    askedAt: timestamp(),
    sentAt: nullable.instant(),
    answeredAt: nullable.instant(),
    endedAt: nullable.instant(),
    /** When the next step is due, by the process or, if that is down, by the sweep. */
    dueAt: nullable.instant(),
    transactionId: nullable.string(),
    workflowId: nullable.string(),
  },
})

/** The one credential of a machine payment, from its minting to the last statement of the merchant or the network. */
export class MppCredential extends schema.class {}
schema.setClass(MppCredential)

/** The condition, written exactly as in the partial index of deadlines. */
export const OPEN = 'due_at is not null'

/** A merchant has 30 seconds for its answer. What is longer on its way was left by a process that has ended. */
export const SENT_GRACE_MS = minutes(2)

/** A payment whose outcome is unknown after this counts as not paid: no card network waits longer. */
export const OPEN_FOR_MS = days(31)

export const mppPersonal = {
  mpp_credentials: {
    personal: {
      merchant: { kind: 'payment', ground: 'payments', forget: 'word' },
      merchant_name: { kind: 'payment', ground: 'payments', forget: 'word' },
      url: { kind: 'payment', ground: 'payments', forget: 'word' },
      challenge: { kind: 'payment', ground: 'payments', forget: 'empty' },
      receipt: { kind: 'payment', ground: 'payments', forget: 'word' },
      note: { kind: 'words', ground: 'payments', forget: 'word' },
    },
    plain: [
      'agent_credential_id',
      'sent_by',
      'method',
      'network',
      'challenge_id',
      'request_digest',
      'credential_digest',
      'outcome_by',
    ],
    keptWhile: {
      where: "t.status <> 'void' or t.transaction_id is not null",
      words: 'it was paid, or can still be',
    },
  },
  mpp_protect_rules: {
    personal: {
      merchant: { kind: 'payment', ground: 'contract', forget: 'word' },
      pattern: { kind: 'payment', ground: 'contract', forget: 'pseudonym' },
      reason: { kind: 'words', ground: 'contract', forget: 'word' },
    },
    plain: ['type'],
  },
} as const satisfies Personal

/** The data of a credential's event. */
export const credentialEvent = ({
  id,
  agentId,
  intentId,
  cardId,
  status,
  amountCents,
  merchant,
}: MppCredential) => ({ credentialId: id, agentId, intentId, cardId, status, amountCents, merchant })
