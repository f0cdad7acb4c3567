import { z } from 'zod'
import { creditSources, unmatchedReasons } from '../../iso20022/credit.ts'
import { event } from '../../kernel/contract/events.ts'
import { id } from '../../values/ids.ts'
import { euros } from '../../values/money.ts'
import { payableMembers } from '../references/index.ts'
import { WalletEvent } from '../wallets/index.ts'
import { creditMachine } from './incoming-credit.ts'

/** An event about a credit names no sender: that is for its owner to read. */
export const IncomingEvent = z.object({
  creditId: id('credit'),
  walletId: id('wallet').nullable(),
  status: z.enum(creditMachine.states),
  amountEuros: euros,
  reason: z.enum(unmatchedReasons).nullable(),
  source: z.enum(creditSources),
  ...payableMembers,
})

/** The events of an incoming credit. */
export const creditEvents = {
  'incoming.received': event('Money has come in from outside.', IncomingEvent),
  'wallet.credited': event(
    'Money has come into a wallet, by SEPA or from an agent that is being deleted.',
    WalletEvent,
  ),
  'wallet.debited': event(
    'Money has left a wallet for what its owner owed, or because a funding was drawn back.',
    WalletEvent,
  ),
}

export const assignedEvent = {
  'incoming.assigned': event('A credit that nobody could match has been given to its wallet.', IncomingEvent),
}

/** The events of what was handed over, where it is booked. */
export const arrivalEvents = { ...creditEvents, ...assignedEvent }
