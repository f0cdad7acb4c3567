import type { HandlerOf } from '../../kernel/contract/operation.ts'
import type { Records } from '../../kernel/contract/records.ts'
import { findPayableWallets, isPurse } from '../../money/wallets/index.ts'
import { cents } from '../../values/money.ts'
import { assignBankDebit } from '../transfers/index.ts'
import type { railsApi } from './api.ts'
import { SepaMessage } from './message.ts'

/** The file says what the bank has debited, so the operator names only the wallet and the payee. */
export const assignDebit: HandlerOf<typeof railsApi.assign> = async ({ params, body }, context) => {
  const { records, sql, switchTenant, emit, refuse } = context
  const { endToEndId, walletId, payee, reference } = body
  const message = await records.findOne(SepaMessage, { id: params.id })
  if (!message) return refuse('message_not_found')
  const { id: sepaMessageId, mode, payments } = message
  const debit = payments.find(payment => payment.endToEndId === endToEndId && payment.notice === 'settled')
  if (!debit?.cents) return refuse('debit_not_found')
  const [wallet] = await findPayableWallets(sql, { mode }, { ids: [walletId] })
  if (!wallet) return refuse('wallet_not_found')
  if (isPurse(wallet)) return refuse('wallet_of_card')
  switchTenant({ ownerId: wallet.ownerId, mode })
  const amountCents = cents(debit.cents)
  const assigned = await assignBankDebit({ endToEndId, amountCents, payee, reference }, wallet, context)
  if (!('transfer' in assigned)) return refuse(...assigned)
  const { transfer, owedCents } = assigned
  emit('sepa.debit_assigned', { sepaMessageId, transferId: transfer.id, walletId, amountCents, owedCents })
  await listAsTaken(sepaMessageId, { endToEndId, transferId: transfer.id }, records)
  return transfer
}

/** Locks the file last, since the accounts are locked before records. */
async function listAsTaken(
  messageId: string,
  { endToEndId, transferId }: { readonly endToEndId: string; readonly transferId: string },
  records: Records,
): Promise<void> {
  const message = await records.findOne(SepaMessage, { id: messageId }, { lock: true })
  if (!message) throw new Error(`${messageId}: a bank file is never deleted`)
  message.payments = message.payments.map(payment =>
    payment.endToEndId === endToEndId && payment.notice === 'settled'
      ? { ...payment, transferId, outcome: 'taken' }
      : payment,
  )
}
