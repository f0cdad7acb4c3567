import { defineEntity, p } from '@mikro-orm/core'
import { stateMachine } from '../../kernel/contract/machine.ts'
import type { RefusalSpec } from '../../kernel/contract/operation.ts'
import { metadataColumn, nullable, recordColumns, tenantTable } from '../../kernel/database/entity.ts'
import { personal, plain } from '../../kernel/database/personal.ts'
import type { PersonalData } from '../../values/personal.ts'

export const walletMachine = stateMachine('wallet', {
  active: ['frozen', 'closed'],
  frozen: ['active', 'closed'],
  closed: [],
})

export const walletKinds = ['owner', 'agent', 'card'] as const

const schema = defineEntity({
  ...tenantTable('Wallet', 'wallets', 'agentId'),
  properties: {
    ...recordColumns('wallet'),
    name: personal(p.text(), 'words', 'contract', 'word'),
    kind: plain(p.enum(walletKinds).onCreate(() => 'owner' as const)),
    parentWalletId: plain(nullable.string()),
    agentId: nullable.string(),
    /** Set for the purse of a card, from which only that card pays. */
    cardId: nullable.string(),
    iban: personal(nullable.string(), 'account', 'vouchers', 'pseudonym'),
    bic: plain(nullable.string()),
    currency: p.enum(['EUR'] as const).onCreate(() => 'EUR' as const),
    status: p.enum(walletMachine.states).onCreate(() => walletMachine.initial),
    metadata: personal(metadataColumn(), 'words', 'contract', 'empty'),
  },
})

export class Wallet extends schema.class {}
schema.setClass(Wallet)

export const walletsPersonalData = {
  payment_references: {
    personal: {},
    plain: ['payable_type', 'payable_id'],
  },
} as const satisfies PersonalData

const WHY =
  'the wallet is the purse of a card, which only pays for that card. Fund it with POST /cards/{id}/fund.'

export const purseRefusal = (member?: string): RefusalSpec => [
  400,
  member ? `${member}: ${WHY}` : `T${WHY.slice(1)}`,
]

/** A purse is funded, spent from and closed only with its card. */
export const isPurse = ({ kind }: Pick<Wallet, 'kind'>): boolean => kind === 'card'
