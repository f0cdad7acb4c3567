import type { Euros } from '../values/money.ts'
import { amountAt } from './camt-amount.ts'
import { elementsAt, textAt, type XmlElement } from './xml-reader.ts'

/** What a booking says of a payment of ours: it has left the account, or it is back. */
export interface OwnPayment {
  readonly endToEndId: string | null
  readonly notice: 'settled' | 'returned'
  readonly reasonCode: string | null
  /** Nothing where the booking does not say it of each of its payments. */
  readonly amountEuros: Euros
}

/** The payments of a booked debit in euros, and those that come back; none of any other booking. */
export function ownPaymentsIn(entry: XmlElement): OwnPayment[] {
  const direction = textAt(entry, 'CdtDbtInd')
  const isBooked = textAt(entry, 'Sts/Cd', 'Sts') === 'BOOK'
  const isReversal = /^(true|1)$/.test(textAt(entry, 'RvslInd') ?? '')
  const isOurs = direction === 'DBIT' ? !isReturn(entry) : direction === 'CRDT' && isReturn(entry)
  if (!isBooked || isReversal || !isOurs || elementsAt(entry, 'Amt')[0]?.attributes.get('Ccy') !== 'EUR')
    return []
  const details = elementsAt(entry, 'NtryDtls/TxDtls')
  return details.map(one => ({
    endToEndId: textAt(one, 'Refs/EndToEndId'),
    notice: direction === 'DBIT' ? 'settled' : 'returned',
    reasonCode: textAt(one, 'RtrInf/Rsn/Cd'),
    amountEuros: amountOf(one) ?? (details.length === 1 ? amountAt(entry, 'Amt') : undefined) ?? 0n,
  }))
}

const amountOf = (one: XmlElement): Euros | undefined =>
  amountAt(one, 'Amt') ?? amountAt(one, 'AmtDtls/TxAmt/Amt')

/** Our own payment that comes back: not money from a payer. */
export const isReturn = (entry: XmlElement): boolean =>
  textAt(entry, 'BkTxCd/Domn/Fmly/SubFmlyCd') === 'RRTN' ||
  elementsAt(entry, 'NtryDtls/TxDtls/RtrInf').length > 0
