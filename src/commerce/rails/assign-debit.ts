import type { EntityManager } from '../../kernel/contract/entity-manager.ts'
import type { HandlerOf } from '../../kernel/contract/operation.ts'
import type { Row, Sql } from '../../kernel/contract/sql.ts'
import { FOR_UPDATE } from '../../kernel/database/entity.ts'
import { findPayableWallets, isPurse } from '../../money/wallets/index.ts'
import { type Cents, cents } from '../../values/money.ts'
import { assignBankDebit, type BookedDebit } from '../transfers/index.ts'
import type { railsApi } from './api.ts'
import { SepaMessage, type StoredPaymentReport, WHILE_NO_FILE_IS_READ } from './message.ts'

/** The file says what the bank has debited, so the operator names only the wallet and the payee. */
export const assignDebit: HandlerOf<typeof railsApi.assign> = async ({ params, body }, context) => {
  const { em, sql, switchTenant, emit, refuse } = context
  const { endToEndId, walletId, payee, reference } = body
  const message = await em.findOne(SepaMessage, { id: params.id })
  if (!message) return refuse('message_not_found')
  const { id: sepaMessageId, mode } = message
  const [first, ...others] = message.payments.flatMap(payment => debitIn(payment, endToEndId) ?? [])
  if (!first) return refuse('debit_not_found')
  // They run in this order, so the returns are read under the lock.
  const [[wallet], , returns] = await Promise.all([
    findPayableWallets(sql, { mode }, { ids: [walletId] }),
    sql(WHILE_NO_FILE_IS_READ),
    findReturns(message, endToEndId, sql),
  ])
  if (!wallet) return refuse('wallet_not_found')
  if (isPurse(wallet)) return refuse('wallet_of_card')
  switchTenant({ ownerId: wallet.ownerId, mode })
  const debit = { endToEndId, debits: [first, ...others] as const, returns, payee, reference }
  const assigned = await assignBankDebit(debit, wallet, context)
  if (!('transfer' in assigned)) return refuse(...assigned)
  const { transfer, owedCents } = assigned
  const { id: transferId, amountCents } = transfer
  emit('sepa.debit_assigned', { sepaMessageId, transferId, walletId, amountCents, owedCents })
  await listAsTaken(sepaMessageId, { endToEndId, transferId, amountCents }, em)
  return transfer
}

const debitIn = (payment: StoredPaymentReport, endToEndId: string): BookedDebit | undefined =>
  payment.endToEndId === endToEndId && payment.notice === 'settled' && payment.cents
    ? { amountCents: cents(payment.cents), scheme: payment.isInstant ? 'sct_inst' : 'sct' }
    : undefined

/** A payment is older than the files that report its return, so ids bound the search. */
const RETURNS = `
select p ->> 'cents' as cents from sepa_messages m, jsonb_array_elements(m.payments) p
where (m.owner_id, m.mode) = ($1, $2) and m.id > 'sepamessage_' || $3
  and m.payments @> jsonb_build_array(jsonb_build_object('endToEndId', $3::text, 'notice', 'returned'))
  and p @> jsonb_build_object('endToEndId', $3::text, 'notice', 'returned')`

/** Returns that were read before the transfer was known, or after its rejection, have had no effect. */
async function findReturns(
  { ownerId, mode }: SepaMessage,
  endToEndId: string,
  sql: Sql,
): Promise<(Cents | null)[]> {
  const rows = await sql<Row & { cents: string | null }>(RETURNS, [ownerId, mode, endToEndId])
  return rows.map(({ cents: amount }) => (amount ? cents(amount) : null))
}

interface AssignedPayment {
  readonly endToEndId: string
  readonly transferId: string
  readonly amountCents: Cents
}

/** Locks the file last, since the accounts are locked before records. */
async function listAsTaken(
  messageId: string,
  { endToEndId, transferId, amountCents }: AssignedPayment,
  em: EntityManager,
): Promise<void> {
  const message = await em.findOne(SepaMessage, { id: messageId }, FOR_UPDATE)
  if (!message) throw new Error(`${messageId}: a bank file is never deleted`)
  message.payments = message.payments.map(payment =>
    debitIn(payment, endToEndId)?.amountCents === amountCents
      ? { ...payment, transferId, outcome: 'taken' }
      : payment,
  )
}
