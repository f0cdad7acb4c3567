import type { Euros } from '../values/money.ts'
import { amountAt } from './camt-amount.ts'
import { elementsAt, textAt, type XmlElement } from './xml-reader.ts'

/** A payment of ours in a bank's entry: it has left the account, or has been returned. */
export interface OwnPayment {
  readonly endToEndId: string | null
  readonly notice: 'settled' | 'returned'
  readonly reasonCode: string | null
  /** Zero if the entry has several payments and gives no amount for this payment. */
  readonly amountEuros: Euros
}

/** Our payments in a booked euro entry: those of a debit, and those that a credit returns. */
export function ownPaymentsIn(entry: XmlElement): OwnPayment[] {
  const direction = textAt(entry, 'CdtDbtInd')
  const isBooked = textAt(entry, 'Sts/Cd', 'Sts') === 'BOOK'
  const isReversal = /^(true|1)$/.test(textAt(entry, 'RvslInd') ?? '')
  const isOurs = direction === 'DBIT' ? !isReturn(entry) : direction === 'CRDT' && isReturn(entry)
  if (!isBooked || isReversal || !isOurs || elementsAt(entry, 'Amt')[0]?.attributes.get('Ccy') !== 'EUR')
    return []
  const details = elementsAt(entry, 'NtryDtls/TxDtls')
  return details.map(payment => ({
    endToEndId: textAt(payment, 'Refs/EndToEndId'),
    notice: direction === 'DBIT' ? 'settled' : 'returned',
    reasonCode: textAt(payment, 'RtrInf/Rsn/Cd'),
    amountEuros: amountOf(payment) ?? (details.length === 1 ? amountAt(entry, 'Amt') : undefined) ?? 0n,
  }))
}

const amountOf = (payment: XmlElement): Euros | undefined =>
  amountAt(payment, 'Amt') ?? amountAt(payment, 'AmtDtls/TxAmt/Amt')

/** Whether an entry returns a payment of ours, so that its money is not a payer's. */
export const isReturn = (entry: XmlElement): boolean =>
  textAt(entry, 'BkTxCd/Domn/Fmly/SubFmlyCd') === 'RRTN' ||
  elementsAt(entry, 'NtryDtls/TxDtls/RtrInf').length > 0
