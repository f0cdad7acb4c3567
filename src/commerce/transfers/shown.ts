import type { Transfer } from './transfer.ts'

/** As it is answered: the cents of a split's parts are amounts again. */
export const shown = (transfer: Transfer) => ({
  ...transfer,
  parts: transfer.parts?.map(({ walletId, cents }) => ({ walletId, amountEuros: BigInt(cents) })) ?? null,
})
