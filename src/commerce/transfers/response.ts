import { withMembers } from '../../kernel/database/entity.ts'
import type { Part, Transfer } from './transfer.ts'

/** A transfer as the API answers it: the parts of a split are stored in cents and answered as amounts. */
export const transferResponse = (transfer: Transfer) =>
  withMembers(transfer, {
    parts: partsOf(transfer),
    payeeCheck: transfer.payeeCheck && { code: null, ...transfer.payeeCheck },
  })

export const partsOf = ({ parts }: Transfer): Part[] | null =>
  parts?.map(({ walletId, cents }) => ({ walletId, amountEuros: BigInt(cents) })) ?? null
