import { IncomingEvent } from '../../../money/incoming/index.ts'
import { transactionEvents } from '../../../money/transactions/index.ts'
import { WalletEvent } from '../../../money/wallets/index.ts'
import { paymentEvents } from '../events.ts'

/** The events of a charge that has ended. */
export const settledEvents = {
  ...paymentEvents,
  ...transactionEvents,
  'incoming.received': IncomingEvent,
  'wallet.credited': WalletEvent,
  'wallet.debited': WalletEvent,
}
