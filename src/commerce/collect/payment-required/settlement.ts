import { defineEntity, p } from '@mikro-orm/core'
import { stateMachine } from '../../../kernel/contract/machine.ts'
import { centsColumn, nullable, recordColumns, tenantTable } from '../../../kernel/database/entity.ts'
import { personal, personalTable, plain, secret } from '../../../kernel/database/personal.ts'
import { addMs, minutes } from '../../../values/clock.ts'

/** A settlement is charged once. It stays `charging` until the acquirer has reported the outcome. */
export const settlementMachine = stateMachine('mpp_settlement', {
  charging: ['paid', 'declined'],
  paid: [],
  declined: [],
})

const schema = defineEntity({
  ...tenantTable('Settlement', 'mpp_settlements', 'agentId'),
  ...personalTable({
    about: { payer: ['request_id'] },
    keptWhile: {
      where: "t.status <> 'declined'",
      words: 'the charge was not declined',
    },
  }),
  properties: {
    ...recordColumns('settlement'),
    requestId: nullable.string(),
    agentId: nullable.string(),
    walletId: nullable.string(),
    scenario: plain(nullable.string()),
    challengeId: plain(p.text()),
    /** Recognizes a repeated credential. The credential itself is not stored. */
    credentialDigest: plain(p.text()),
    amountCents: centsColumn('amount_cents'),
    network: plain(p.text()),
    /** The last four digits of the network token, not of the card. Empty for a shared payment token. */
    last4: personal(p.text(), 'account', 'vouchers', { value: '0000' }),
    status: p.enum(settlementMachine.states).onCreate(() => settlementMachine.initial),
    /** The acquirer’s reference of the charged card; it authorizes nothing. */
    handle: secret(p.text()),
    descriptor: personal(p.text(), 'payment', 'vouchers', 'word'),
    declineCode: plain(nullable.string()),
    declineReason: plain(nullable.string()),
    receipt: personal(nullable.string(), 'payment', 'vouchers', 'word'),
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
