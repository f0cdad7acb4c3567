import { z } from 'zod'
import { event, reservedEvent } from '../../kernel/contract/events.ts'
import { instant } from '../../values/clock.ts'
import { id } from '../../values/ids.ts'
import { euros } from '../../values/money.ts'
import { recordHead, recordTail } from '../../values/schemas.ts'
import { mppCredentialMachine, senders, witnesses } from './credential.ts'

export const status = z.enum(mppCredentialMachine.states).meta({
  description:
    '`minted`: shown to the caller, who sends it. `sent`: the merchant has not answered yet. `indeterminate`: nobody knows yet whether it was paid; its money stays held. `consumed`: paid. `void`: not paid, also where the card network has taken back what it had authorized; the intent is free again.',
})

const merchant = z.string().meta({
  description: 'The host that was asked: it is the payee.',
  examples: ['shop.example.com'],
})

const digest = z.string().meta({ examples: ['n4bQgYhMfWWaL-qgxVrQFaO_TxsrC4Is0V1sFbDwCgg'] })

export const MppCredentialRecord = z
  .object({
    ...recordHead('mppcredential'),
    agentId: id('agent'),
    delegationId: id('delegation').nullable(),
    intentId: id('intent'),
    cardId: id('card'),
    agentCredentialId: id('agentcredential').meta({
      description: 'The network token inside, with its limits.',
    }),
    status,
    sentBy: z.enum(senders).meta({
      description: '`service`: by `POST /v1/mpp/pay`. `caller`: by whoever minted it and was shown it.',
    }),
    merchant,
    merchantName: z
      .string()
      .nullable()
      .meta({ description: 'The name that the merchant gives itself. It proves nothing.' }),
    url: z
      .string()
      .meta({ description: 'Without its query.', examples: ['https://shop.example.com/reports/42'] }),
    method: z.string().meta({ examples: ['GET'] }),
    amountEuros: euros,
    network: z.string().meta({ examples: ['visa'] }),
    challengeId: z.string(),
    requestDigest: digest.meta({ description: 'SHA-256 of method, address and body of the request.' }),
    credentialDigest: digest.meta({ description: 'SHA-256 of the credential, which is never kept.' }),
    merchantStatus: z
      .int()
      .nullable()
      .meta({ description: 'With what the merchant answered the paid request.', examples: [200] }),
    receipt: z
      .string()
      .nullable()
      .meta({ description: 'The `Payment-Receipt` as it came; null unless it is one for this payment.' }),
    note: z.string().nullable().meta({ description: 'What is to be known of the answer.' }),
    outcomeBy: z.enum(witnesses).nullable().meta({
      description:
        'Whose word ended it: the merchant’s, the card network’s, a key’s or an operator’s; `deadline`: nobody’s within 31 days.',
    }),
    askedAt: instant,
    sentAt: instant.nullable(),
    answeredAt: instant.nullable(),
    endedAt: instant.nullable(),
    dueAt: instant.nullable().meta({
      description: 'An open one ends by this, if nobody has said before what became of it.',
    }),
    transactionId: id('txn').nullable(),
    workflowId: z
      .string()
      .nullable()
      .meta({ examples: ['mpp/mppcredential_01jd8x2m4ye7k9v0c3q5r6t8wz'] }),
    ...recordTail,
  })
  .meta({ id: 'MppCredential' })

const credentialMembers = {
  credentialId: id('mppcredential'),
  agentId: id('agent'),
  intentId: id('intent'),
  cardId: id('card'),
  status,
  amountEuros: euros,
  merchant,
}

const MppCredentialEvent = z.object(credentialMembers)
const MppTransactionEvent = z.object({ ...credentialMembers, transactionId: id('txn') })

export const mintEvents = {
  'mpp.credential.minted': event(
    'A credential for one machine payment has been made, and the intent’s payment has begun.',
    MppCredentialEvent,
  ),
}

/** The events of everything that may say how a machine payment stands. */
export const outcomeEvents = {
  'mpp.credential.consumed': event('A machine payment has been paid.', MppCredentialEvent),
  'mpp.transaction.completed': event(
    'A machine payment has been paid, by this transaction.',
    MppTransactionEvent,
  ),
  'mpp.credential.indeterminate': event(
    'Nobody knows whether a machine payment was paid: its money stays held until somebody says so.',
    MppCredentialEvent,
  ),
  'mpp.credential.void': event(
    'A machine payment was not paid: its token pays nothing any more, and the intent is free again.',
    MppCredentialEvent,
  ),
}

export const announcedEvents = {
  'mpp.credential.expired': reservedEvent('A credential has expired unused.', MppCredentialEvent),
}
