import type { Failure } from '../../kernel/contract/operation.ts'
import type { Wallet } from './wallet.ts'

const WHY =
  'the wallet is the purse of a card, and only that card pays from it. POST /cards/{id}/fund fills it, and what is left comes back when the card is closed.'

/** The refusal of a purse where a request names a wallet, in its path or in this member. */
export const purseRefusal = (member?: string): Failure => [
  400,
  member ? `${member}: ${WHY}` : `T${WHY.slice(1)}`,
]

/** Whether a wallet is the purse of a card: it is filled, spent from and closed with the card, and in no other way. */
export const isPurse = ({ kind }: Pick<Wallet, 'kind'>): boolean => kind === 'card'
