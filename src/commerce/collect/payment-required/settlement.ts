import { defineEntity, p } from '@mikro-orm/core'
import { stateMachine } from '../../../kernel/contract/machine.ts'
import { centsColumn, nullable, recordColumns, tenantTable } from '../../../kernel/database/entity.ts'
import { addMs, minutes } from '../../../values/clock.ts'
import type { PersonalData } from '../../../values/personal.ts'

/** A settlement is charged once. It stays `charging` until the acquirer has reported the outcome. */
export const settlementMachine = stateMachine('mpp_settlement', {
  charging: ['paid', 'declined'],
  paid: [],
  declined: [],
})

const schema = defineEntity({
  ...tenantTable('Settlement', 'mpp_settlements', 'agentId'),
  properties: {
    ...recordColumns('settlement'),
    requestId: nullable.string(),
    agentId: nullable.string(),
    walletId: nullable.string(),
    scenario: nullable.string(),
    challengeId: p.text(),
    /** Recognizes a repeated credential. The credential itself is not stored. */
    credentialDigest: p.text(),
    amountCents: centsColumn('amount_cents'),
    network: p.text(),
    /** The last four digits of the network token, not of the card. Empty for a shared payment token. */
    last4: p.text(),
    status: p.enum(settlementMachine.states).onCreate(() => settlementMachine.initial),
    /** The acquirer’s reference of the charged card; it authorizes nothing. */
    handle: p.text(),
    descriptor: p.text(),
    declineCode: nullable.string(),
    declineReason: nullable.string(),
    receipt: nullable.string(),
    settledAt: nullable.instant(),
    attempts: p.integer().onCreate(() => 0),
    dueAt: nullable.instant(),
  },
})

export class Settlement extends schema.class {}
schema.setClass(Settlement)

export const settlementExternalId = ({
  requestId,
  scenario,
}: Pick<Settlement, 'requestId' | 'scenario'>): string => requestId ?? scenario ?? ''

/** A charge takes seconds, so an earlier inquiry would find no outcome. */
const FIRST_MS = 30_000
const LATER_MS = [minutes(1), minutes(5), minutes(15), minutes(60)] as const

export const firstInquiryAt = (now: Date): Date => addMs(now, FIRST_MS)

export function scheduleNextInquiry(settlement: Settlement, now: Date): void {
  settlement.attempts += 1
  settlement.dueAt = addMs(now, LATER_MS[settlement.attempts - 1] ?? minutes(60))
}

export const settlementsPersonalData = {
  mpp_settlements: {
    personal: {
      descriptor: { kind: 'payment', ground: 'vouchers', forget: 'word' },
      receipt: { kind: 'payment', ground: 'vouchers', forget: 'word' },
      last4: { kind: 'account', ground: 'vouchers', forget: { value: '0000' } },
    },
    plain: ['scenario', 'challenge_id', 'credential_digest', 'network', 'decline_code', 'decline_reason'],
    secret: ['handle'],
    keptWhile: {
      where: "t.status <> 'declined'",
      words: 'the charge was not declined',
    },
    about: { payer: ['request_id'] },
  },
} as const satisfies PersonalData
