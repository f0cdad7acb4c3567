import { defineEntity, p } from '@mikro-orm/core'
import { machine } from '../../kernel/contract/machine.ts'
import { nullable, record, tenantTable } from '../../kernel/database/entity.ts'

export const walletMachine = machine('wallet', {
  active: ['frozen', 'closed'],
  frozen: ['active', 'closed'],
  closed: [],
})

export const walletKinds = ['owner', 'agent', 'card'] as const

const schema = defineEntity({
  ...tenantTable('Wallet', 'wallets', 'agentId'),
  properties: {
    ...record('wallet'),
    name: p.text(),
    kind: p.enum(walletKinds).onCreate(() => 'owner' as const),
    parentWalletId: nullable.string(),
    agentId: nullable.string(),
    /** The card whose purse this is: only that card pays from it. */
    cardId: nullable.string(),
    iban: nullable.string(),
    bic: nullable.string(),
    currency: p.enum(['EUR'] as const).onCreate(() => 'EUR' as const),
    status: p.enum(walletMachine.states).onCreate(() => walletMachine.initial),
    metadata: p.json<Record<string, string>>().onCreate(() => ({})),
  },
})

export class Wallet extends schema.class {}
schema.setClass(Wallet)
