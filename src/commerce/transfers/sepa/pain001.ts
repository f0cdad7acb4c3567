import type { HandlerOf } from '../../../kernel/contract/operation.ts'
import { walletsById } from '../../../money/wallets/index.ts'
import type { transfersApi } from '../api.ts'
import { Transfer } from '../transfer.ts'

/** The payment order of one transfer, as its rail writes it; of one that is not submitted, as it would be now. */
export const pain001: HandlerOf<typeof transfersApi.pain001> = async ({ params }, context) => {
  const { records, sql, tenant, now, ports, refuse } = context
  const transfer = await records.findOne(Transfer, { id: params.id })
  if (!transfer) return refuse('transfer_not_found')
  const { scheme, endToEndId, payee, amountEuros, reference, fromWalletId } = transfer
  if (!scheme || !endToEndId || !payee) return refuse('transfer_not_by_sepa')
  const rail = ports.sepaRail(tenant.mode)
  const madeAt = transfer.submittedAt ?? now
  const { executeOn } = rail.nextFile(scheme, madeAt)
  const payerIban = (await walletsById(sql, tenant, [fromWalletId])).get(fromWalletId)?.iban ?? null
  const paid = { endToEndId, amountEuros, reference, payerIban, payee: { ...payee, name: payee.sepaName } }
  const order = { messageId: endToEndId, madeAt, executeOn, scheme, payments: [paid] }
  return { type: XML, content: rail.message(order) }
}

const XML = 'application/xml'
