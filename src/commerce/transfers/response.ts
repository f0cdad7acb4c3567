import { answered } from '../../kernel/database/entity.ts'
import type { Part, Transfer } from './transfer.ts'

/** As it is answered: the cents of a split's parts are amounts again. */
export const shown = (transfer: Transfer) => answered(transfer, { parts: partsOf(transfer) })

export const partsOf = ({ parts }: Transfer): Part[] | null =>
  parts?.map(({ walletId, cents }) => ({ walletId, amountEuros: BigInt(cents) })) ?? null
